// SPDX-License-Identifier: Apache-2.0
#include "os/caller.h"

#include <array>
#include <pwd.h>
#include <unistd.h>

#include "os/file.h"
#include "os/id_map.h"

namespace cordon::os {
namespace {

Result<std::uint32_t> first_of(const char* file, const std::string& name, std::uint32_t uid) {
  TRY(const std::string text, read_file(at_cwd(), file));
  const auto ranges = parse_subordinate_ids(text, name, uid);
  if (ranges.empty()) return Error{Errc::not_found, std::string{file} + " grants no ids"};
  return ranges.front().first;
}

}  // namespace

CallerIds caller_ids() noexcept { return {::geteuid(), ::getegid()}; }

CallerAccount caller_account(std::uint32_t uid) {
  std::array<char, 16'384> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    return {std::to_string(uid), {}};
  }
  return {found->pw_name, found->pw_dir};
}

Result<SpareIds> find_spare_ids(const CallerIds& caller) {
  const std::string name = caller_account(caller.uid).name;
  TRY(const std::uint32_t uid, first_of("/etc/subuid", name, caller.uid));
  TRY(const std::uint32_t gid, first_of("/etc/subgid", name, caller.uid));
  return SpareIds{uid, gid};
}

}  // namespace cordon::os
