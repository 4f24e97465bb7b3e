// SPDX-License-Identifier: Apache-2.0
#include "chosen.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace cordon::mutation {
namespace {

constexpr std::size_t kRoom = 256;
constexpr std::size_t kMark = sizeof "CORDON-MUTANT:" - 1;
// The mark, once in the file; then the name up to the first zero.
[[gnu::used, gnu::section(".data")]] volatile char g_place[kRoom] = "CORDON-MUTANT:";

// Beside the program; opened before the host's files are out of sight. cordon-init has none.
int told() {
  static const int fd = [] {
    std::array<char, 512> own{};
    if (::readlink("/proc/self/exe", own.data(), own.size() - 1) < 0) return -1;
    std::string path = own.data();
    path.replace(path.rfind('/'), std::string::npos, "/told");
    return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  }();
  return fd;
}

const std::vector<std::string>& chosen() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all(1);
    for (std::size_t i = kMark; i < kRoom && g_place[i] != '\0'; ++i) {
      const auto letter = static_cast<char>(g_place[i]);
      if (letter == '|') {
        all.emplace_back();
      } else {
        all.back() += letter;
      }
    }
    return all;
  }();
  return names;
}

}  // namespace

bool chose(std::string_view name) { return std::ranges::find(chosen(), name) != chosen().end(); }

std::string_view chosen_after(std::string_view prefix) {
  for (const std::string_view name : chosen()) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return {};
}

bool lacks(std::string_view name) {
  if (chose("list")) {
    const std::string line = std::string{name} + "\n";
    (void)!::write(told(), line.data(), line.size());
  }
  return chose(name);
}

}  // namespace cordon::mutation
