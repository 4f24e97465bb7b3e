// SPDX-License-Identifier: Apache-2.0
#include "plan/identity.h"

#include <algorithm>

#include <fmt/format.h>

#include "policy/glob.h"
#include "policy/host_view.h"

namespace cordon::plan {
namespace {

constexpr std::uint32_t kUser = 1000;
constexpr std::uint32_t kNobody = 65534;

// Goes into lines of passwd and group: nothing but a plain name may.
bool is_plain_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return !name.empty() && name.size() <= 32 && is_letter(name.front()) &&
         std::ranges::all_of(
             name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-'; });
}

// A home goes into a line of passwd, and a directory of ours is put there.
bool is_fit_for_home(const std::string& home) {
  if (!policy::is_normal_path(home) || home == "/" || home.find(':') != std::string::npos ||
      home.find('\n') != std::string::npos) {
    return false;
  }
  for (const std::string_view own : {"/proc", "/sys", "/dev", "/etc", "/tmp", "/var/tmp"}) {
    if (policy::below(home, own) || policy::below(own, home)) return false;
  }
  return !policy::is_shown_of_host(home);
}

}  // namespace

Identity identity_of(const Request& request, bool host_root) {
  const Situation& situation = request.situation;
  const bool root_inside = request.settings.user == policy::User::root;
  if (request.host.root) {
    return root_inside ? Identity{frame::Ids::range, 0, 0, "root", "/root"}
                       : Identity{frame::Ids::range, kUser, kUser, "user", "/home/user"};
  }
  // gVisor serves the caller's files as those of its root, where there is no other id.
  const bool one_id = request.settings.isolation == Isolation::gvisor;
  if (root_inside || one_id) return {frame::Ids::caller, 0, 0, "root", "/root"};
  Identity identity{frame::Ids::caller, situation.caller_uid, situation.caller_gid, "user",
                    "/home/user"};
  const std::string& name = situation.caller_name;
  if (is_plain_name(name) && name != "root" && name != "nobody") identity.name = name;
  if (host_root && is_fit_for_home(situation.home)) identity.home = situation.home;
  return identity;
}

std::vector<frame::OwnFile> own_files(const Identity& identity, const std::string& host_name,
                                      bool network) {
  std::string passwd = "root:x:0:0:root:/root:/bin/sh\n";
  std::string group = "root:x:0:\n";
  if (identity.uid != 0) {
    passwd += fmt::format("{0}:x:{1}:{2}:{0}:{3}:/bin/sh\n", identity.name, identity.uid,
                          identity.gid, identity.home);
  }
  if (identity.gid != 0) group += fmt::format("{}:x:{}:\n", identity.name, identity.gid);
  if (identity.uid != kNobody)
    passwd += fmt::format("nobody:x:{0}:{0}:nobody:/nonexistent:/usr/sbin/nologin\n", kNobody);
  if (identity.gid != kNobody) group += fmt::format("nogroup:x:{}:\n", kNobody);
  return {
      {"/etc/group", std::move(group)},
      {"/etc/hostname", host_name + '\n'},
      {"/etc/hosts",
       fmt::format("127.0.0.1 localhost {}\n::1 localhost ip6-localhost\n", host_name)},
      {"/etc/nsswitch.conf",
       fmt::format(
           "passwd: files\ngroup: files\nhosts: files{}\nservices: files\nprotocols: files\n",
           network ? " dns" : "")},
      {"/etc/passwd", std::move(passwd)},
      {"/etc/resolv.conf", network ? "# answered by cordon-egress\nnameserver 198.18.0.1\n"
                                   : "# no network: no name is resolved\n"},
  };
}

}  // namespace cordon::plan
