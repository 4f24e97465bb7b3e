// SPDX-License-Identifier: Apache-2.0
// Starting the program under test, reading its JSON, looking for what it left.
#include "doctor_run.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace cordon::doctor_test {
namespace {

namespace fs = std::filesystem;

// A directory that everybody may enter and only we may write.
class PublicDirectory {
 public:
  PublicDirectory() {
    std::string name = (fs::temp_directory_path() / "cordon-doctor-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
    using enum fs::perms;
    fs::permissions(path_, owner_all | group_read | group_exec | others_read | others_exec);
  }
  PublicDirectory(const PublicDirectory&) = delete;
  PublicDirectory& operator=(const PublicDirectory&) = delete;
  ~PublicDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// As much as can be read: of a process that ends meanwhile perhaps nothing.
std::string text_of(const fs::path& path) {
  const std::ifstream in{path};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Outcome run(const std::vector<std::string>& command) {
  const PublicDirectory scratch;
  const std::string out = scratch.path() / "out";
  const std::string err = scratch.path() / "err";
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  // The leak checker of a sanitized build traces the program itself, which the mask already does.
  std::string sanitizer = "ASAN_OPTIONS=detect_leaks=0";
  std::string path = "PATH=/usr/bin:/bin";
  char* environment[] = {sanitizer.data(), path.data(), nullptr};

  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
  ::posix_spawn_file_actions_addopen(&files, 1, out.c_str(), kWrite, 0600);
  ::posix_spawn_file_actions_addopen(&files, 2, err.c_str(), kWrite, 0600);
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, argv[0], &files, nullptr, argv.data(), environment);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0) {
    ADD_FAILURE() << "posix_spawn " << command[0] << ": " << failed;
    return {};
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text_of(out),
          text_of(err)};
}

std::string as_string(const boost::json::value& value) { return std::string{value.as_string()}; }

}  // namespace

Outcome run_doctor(As as, const std::vector<std::string>& masks,
                   const std::vector<std::string>& arguments) {
  const PublicDirectory reachable;
  std::string cordon = CORDON_PROGRAM;
  std::vector<std::string> command{CORDON_MASK};
  if (as == As::nobody) {
    cordon = reachable.path() / "cordon";
    fs::copy_file(CORDON_PROGRAM, cordon);
    command.insert(command.end(), {"--user", "65534"});
  }
  command.insert(command.end(), masks.begin(), masks.end());
  command.insert(command.end(), {"--", cordon, "doctor"});
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run(command);
}

Report parse(const std::string& text) {
  Report report;
  boost::system::error_code bad;
  const boost::json::value value = boost::json::parse(text, bad);
  if (bad || !value.is_object()) {
    ADD_FAILURE() << "no JSON object: " << text;
    return report;
  }
  report.level = as_string(value.at("level"));
  for (const auto& name : value.at("missing").as_array()) report.missing.push_back(as_string(name));
  report.cgroup_layout = as_string(value.at("cgroup").at("layout"));
  report.landlock_abi = value.at("landlock_abi").as_int64();
  report.sandboxes_by_fds = value.at("capacity").at("by_fds").as_int64();
  report.probe_ms = value.at("probe_ms").as_int64();
  for (const auto& [name, fact] : value.at("facts").as_object()) {
    report.support[std::string{name}] = as_string(fact.at("support"));
    report.detail[std::string{name}] = as_string(fact.at("detail"));
    report.remedy[std::string{name}] = as_string(fact.at("remedy"));
  }
  return report;
}

Report examine(As as, const std::vector<std::string>& masks) {
  const Outcome done = run_doctor(as, masks, {"--json"});
  Report report = parse(done.out);
  EXPECT_EQ(done.exit, report.level == "none" ? 1 : 0) << done.err;
  return report;
}

std::vector<pid_t> living_doctors() {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator{"/proc"}) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string command = text_of(entry.path() / "cmdline");
    const std::string_view first = command.c_str();
    if (first.ends_with("/cordon") &&
        command.find(std::string{"\0doctor", 7}) != std::string::npos) {
      found.push_back(std::stoi(name));
    }
  }
  return found;
}

std::vector<std::string> groups_of_probes() {
  std::vector<std::string> found;
  const auto options = fs::directory_options::skip_permission_denied;
  std::error_code bad;
  for (fs::recursive_directory_iterator at{"/sys/fs/cgroup", options, bad}, end; at != end;
       at.increment(bad)) {
    if (bad) break;
    if (at->path().filename().string().starts_with("cordon-probe-")) found.push_back(at->path());
  }
  return found;
}

}  // namespace cordon::doctor_test
