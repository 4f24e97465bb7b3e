// SPDX-License-Identifier: Apache-2.0
// Files, mounts and children, as the rows need them.
#include "files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <sstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>

namespace cordon::probe {

Answer try_open(const std::string& path, int flags, mode_t mode) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, mode);
  const Answer got = answer(fd);
  if (fd >= 0) ::close(fd);
  return got;
}

Answer try_create(const std::string& path) {
  const Answer got = try_open(path, O_CREAT | O_EXCL | O_WRONLY);
  if (!got.failed()) ::unlink(path.c_str());
  return got;
}

std::string read_text(const std::string& path, std::size_t limit) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return {};
  std::string text;
  std::array<char, 4096> part{};
  while (text.size() < limit) {
    const ssize_t got = ::read(fd, part.data(), part.size());
    if (got <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(fd);
  return text;
}

Answer try_write(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return answer(-1);
  const Answer got = answer(::write(fd, text.data(), text.size()));
  ::close(fd);
  return got;
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  DIR* const dir = ::opendir(directory.c_str());
  if (dir == nullptr) return names;
  while (const dirent* const entry = ::readdir(dir)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  ::closedir(dir);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> pids() {
  std::vector<std::string> found;
  for (const std::string& name : names_in("/proc")) {
    if (std::isdigit(static_cast<unsigned char>(name[0])) != 0) found.push_back(name);
  }
  return found;
}

bool Mount::has(std::string_view option) const {
  std::istringstream words{options};
  for (std::string word; std::getline(words, word, ',');) {
    if (word == option) return true;
  }
  return false;
}

std::vector<Mount> mounts() {
  std::vector<Mount> found;
  std::istringstream lines{read_text("/proc/self/mountinfo", 1 << 20)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    Mount mount;
    std::string skip;
    words >> skip >> skip >> skip >> mount.root >> mount.point >> mount.options;
    for (std::string tag; words >> tag && tag != "-";) mount.tags += tag + ' ';
    words >> mount.type >> mount.source >> mount.super;
    found.push_back(mount);
  }
  return found;
}

const Mount* mount_of(const std::vector<Mount>& all, const std::string& path) {
  const Mount* best = nullptr;
  for (const Mount& mount : all) {
    const bool beneath =
        mount.point == "/" || path == mount.point || path.starts_with(mount.point + "/");
    // Of two at one point the later covers the earlier.
    if (beneath && (best == nullptr || mount.point.size() >= best->point.size())) best = &mount;
  }
  return best;
}

void walk(const std::string& top,
          const std::function<bool(const std::string& path, unsigned char type)>& visit) {
  std::vector<std::string> open{top};
  while (!open.empty()) {
    const std::string here = open.back();
    open.pop_back();
    DIR* const dir = ::opendir(here.c_str());
    if (dir == nullptr) continue;
    while (const dirent* const entry = ::readdir(dir)) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      std::string path = here;
      if (path != "/") path += '/';
      path += name;
      if (path == "/proc" || path == "/sys") continue;
      if (!visit(path, entry->d_type)) {
        ::closedir(dir);
        return;
      }
      if (entry->d_type == DT_DIR) open.push_back(path);
    }
    ::closedir(dir);
  }
}

std::string current_directory() {
  std::array<char, PATH_MAX> path{};
  return ::getcwd(path.data(), path.size()) != nullptr ? path.data() : "";
}

int in_child(const std::function<int()>& act, unsigned seconds) {
  const pid_t child = ::fork();
  if (child < 0) return -1;
  if (child == 0) {
    ::alarm(seconds);
    ::_exit(act());
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Answer ask_child(const std::function<Answer()>& act) {
  void* const shared =
      ::mmap(nullptr, sizeof(Answer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return answer(-1);
  auto* const got = static_cast<Answer*>(shared);
  *got = {-1, ECHILD};
  const int code = in_child([&] {
    *got = act();
    return 0;
  });
  Answer result = *got;
  if (code > 128) result = {-1, EINTR};
  ::munmap(shared, sizeof(Answer));
  return result;
}

}  // namespace cordon::probe
