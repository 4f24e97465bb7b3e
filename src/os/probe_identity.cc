// SPDX-License-Identifier: Apache-2.0
// From uname, os-release, passwd and the number of our user namespace.
#include "os/probe_identity.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "os/file.h"
#include "os/namespace.h"

namespace cordon::os {
namespace {

// PROC_USER_INIT_INO: the number that the first user namespace of every kernel has.
constexpr std::uint64_t kInitialUserNamespace = 0xEFFFFFFD;

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

bool in_initial_user_namespace() {
  const auto ns = open_ns(Ns::user);
  if (!ns) return false;
  const auto id = ns_id(*ns);
  return id && *id == kInitialUserNamespace;
}

}  // namespace

Caller probe_caller() {
  const uid_t uid = ::geteuid();
  return {.uid = uid, .gid = ::getegid(), .root = uid == 0 && in_initial_user_namespace()};
}

std::string pretty_name(std::string_view os_release) {
  constexpr std::string_view kKey = "PRETTY_NAME=";
  while (!os_release.empty()) {
    std::string_view line = next_line(os_release);
    if (!line.starts_with(kKey)) continue;
    line.remove_prefix(kKey.size());
    if (line.size() >= 2 && line.front() == '"' && line.back() == '"') {
      line = line.substr(1, line.size() - 2);
    }
    return std::string{line};
  }
  return {};
}

std::string login_name(std::string_view passwd, uid_t uid) {
  const std::string wanted = std::to_string(uid);
  while (!passwd.empty()) {
    const std::string_view line = next_line(passwd);
    const std::size_t name = line.find(':');
    if (name == std::string_view::npos) continue;
    const std::size_t password = line.find(':', name + 1);
    if (password == std::string_view::npos) continue;
    const std::string_view rest = line.substr(password + 1);
    if (rest.substr(0, rest.find(':')) == wanted) return std::string{line.substr(0, name)};
  }
  return {};
}

void probe_identity(HostFacts& host) {
  utsname names{};
  if (::uname(&names) == 0) {
    host.kernel = static_cast<const char*>(names.release);
    host.machine = static_cast<const char*>(names.machine);
  }
  for (const char* const path : {"/etc/os-release", "/usr/lib/os-release"}) {
    const auto text = read_file(at_cwd(), path);
    if (text) host.system = pretty_name(*text);
    if (!host.system.empty()) return;
  }
  host.system = "unknown system";
}

}  // namespace cordon::os
