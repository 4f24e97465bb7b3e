// SPDX-License-Identifier: Apache-2.0
// Facts of the fences that no act needs to change: by them two sandboxes can be told to be equal.
#include <algorithm>
#include <cstdint>
#include <dirent.h>
#include <map>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "files.h"

namespace cordon::probe {
namespace {

// Of the kernel's random numbers: how many bits there are.
constexpr unsigned long kEntropy = 0x80045200;

// Independent of the order in which a directory is read.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

struct Kind {
  std::size_t count = 0;
  std::uint64_t sum = 0;
};

// Each file, directory and device in the tree is opened to be read: how many gave which answer, and
// a sum of their names.
void add_openings(std::vector<std::string>& lines) {
  std::map<std::string, Kind> kinds;
  walk("/", [&](const std::string& path, unsigned char type) {
    if (type == DT_LNK || type == DT_FIFO || type == DT_SOCK) return true;
    const Answer got = try_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    Kind& kind = kinds[(type == DT_DIR ? "directory " : "file ") +
                       (got.failed() ? name_of_error(got.error) : "opened")];
    ++kind.count;
    kind.sum += hash_of(path);
    return true;
  });
  for (const auto& [name, kind] : kinds) {
    lines.push_back("open " + name + ": " + std::to_string(kind.count) + ", names " +
                    std::to_string(kind.sum));
  }
}

void add_devices(std::vector<std::string>& lines) {
  walk("/dev", [&](const std::string& path, unsigned char type) {
    if (type != DT_CHR && type != DT_BLK) return true;
    const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    termios modes{};
    int bits = 0;
    const Answer terminal = answer(::ioctl(fd, TCGETS, &modes));
    const Answer entropy = answer(::ioctl(fd, kEntropy, &bits));
    lines.push_back("device " + path + ": " + text_of(terminal) + ", " + text_of(entropy));
    if (fd >= 0) ::close(fd);
    return true;
  });
}

}  // namespace

std::vector<std::string> facts() {
  std::vector<std::string> lines;
  for (const Mount& mount : mounts()) {
    lines.push_back("mount " + mount.point + " " + mount.type + " " + mount.root + ": " +
                    mount.options + "; " + mount.super);
  }
  add_openings(lines);
  add_devices(lines);
  std::sort(lines.begin(), lines.end());
  for (std::string& line : lines) line.insert(0, "fact ");
  return lines;
}

}  // namespace cordon::probe
