// SPDX-License-Identifier: Apache-2.0
// What the launcher and cordon-init ask of the kernel, with one element left out. The linker puts
// these in the place of the functions of `os` (--wrap): the sources of the programs know nothing of
// them.
#include <array>
#include <cerrno>
#include <cstdarg>
#include <linux/capability.h>
#include <map>
#include <string>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "chosen.h"
#include "filter_mutants.h"
#include "os/capability.h"
#include "os/file.h"
#include "os/filter/filter.h"
#include "os/id_map.h"
#include "os/identity.h"
#include "os/landlock.h"
#include "os/mount.h"
#include "os/namespace.h"
#include "os/prctl.h"
#include "os/process.h"
#include "os/random.h"
#include "os/rlimit.h"
#include "os/seccomp.h"

// The function that the linker calls instead, and the one that it was.
#define CORDON_WRAP(result, name, symbol, ...)              \
  result real_##name(__VA_ARGS__) asm("__real_" symbol);    \
  result wrapped_##name(__VA_ARGS__) asm("__wrap_" symbol); \
  result wrapped_##name(__VA_ARGS__)

namespace cordon::launcher {
class SandboxGroups;
}

namespace cordon::mutation {
namespace {

using os::Fd;

constexpr std::string_view kNoUserNamespace = "layer:user-namespace";
constexpr std::uint32_t kInitId = 65533;
constexpr int kLeaked = 77;
std::uint32_t g_first_of_range = 0;

std::map<int, std::string>& names_of_mounts() {
  static std::map<int, std::string> names;
  return names;
}

std::string path_of(const Fd& fd) {
  std::array<char, 512> link{};
  const std::string path = fmt::format("/proc/self/fd/{}", fd.get());
  if (::readlink(path.c_str(), link.data(), link.size() - 1) < 0) return "?";
  return link.data();
}

// The same name in every run: what the suite makes has a place of its own for each.
std::string settled(const std::string& path) {
  for (const std::string_view place : {"/tmp/root", "/run/root", "/usr/root"}) {
    if (path == place) return "inside:/";
    if (path.starts_with(place)) return "inside:" + settled(path.substr(place.size()));
  }
  if (path.find("/containment-") != std::string::npos) {
    const std::size_t workspace = path.find("/ws");
    if (workspace != std::string::npos) {
      const std::size_t below = path.find('/', workspace + 1);
      return "workspace" + (below == std::string::npos ? "" : path.substr(below));
    }
    const bool granted =
        path.find("/outside") != std::string::npos || path.find("/granted") != std::string::npos;
    return granted ? "granted" : "state";
  }
  for (const std::string_view place : {"/tmp/", "/run/"}) {
    if (path.starts_with(place)) return "own:" + path.substr(place.size());
  }
  return path;
}

void remember(const Result<Fd>& made, const std::string& name) {
  if (made) names_of_mounts()[made->get()] = settled(name);
}

std::string name_of_mount(const Fd& mount) {
  const auto known = names_of_mounts().find(mount.get());
  return known != names_of_mounts().end() ? known->second : settled(path_of(mount));
}

// Something laid over something that is there already: a mask, a pin.
bool leaves_out(const Fd& mount, const std::string& place) {
  const std::string what = name_of_mount(mount);
  const bool lays_over = what.starts_with("own:blank") || what.starts_with("own:empty") ||
                         what.starts_with("own:hidden") || what.starts_with("own:closed") ||
                         what == place;
  return lays_over && lacks("mask:" + place);
}

os::MountAttributes weaker(os::MountAttributes attributes, const std::string& name) {
  const auto drop = [&](bool& flag, const char* word) {
    if (flag && lacks(fmt::format("mount:{}:{}", word, name))) flag = false;
  };
  drop(attributes.read_only, "ro");
  drop(attributes.nosuid, "nosuid");
  drop(attributes.nodev, "nodev");
  drop(attributes.noexec, "noexec");
  drop(attributes.nosymfollow, "nosymfollow");
  if (chose("layer:mounts")) attributes.read_only = false;
  return attributes;
}

// The programs of a filter mutant, made when they are first asked for.
os::FilterProgram mutated_program(os::FilterProfile profile, const std::string& mutant) {
  static std::map<os::FilterProfile, std::vector<sock_filter>> made;
  auto found = made.find(profile);
  if (found == made.end()) {
    auto compiled = os::compile_filter(mutated_spec(profile, mutant));
    if (!compiled) ::_exit(99);
    found = made.emplace(profile, *std::move(compiled)).first;
  }
  return found->second;
}

// 0 in the launcher, whose own functions have done it already.
std::uint32_t first_of_own_range() {
  const uid_t own = ::getuid();
  return chose(kNoUserNamespace) && own > kInitId ? own - kInitId : 0;
}

os::CapabilitySet wider(os::CapabilitySet kept, const char* kind) {
  std::uint64_t bits = kept.bits();
  for (int number = 0; number <= CAP_LAST_CAP; ++number) {
    if (kept.has(number)) continue;
    if (lacks(fmt::format("{}:{}", kind, number))) bits |= std::uint64_t{1} << unsigned(number);
  }
  return os::CapabilitySet::from_bits(bits);
}

}  // namespace

// --- mounts

CORDON_WRAP(Result<Fd>, open_tree_at, "_ZN6cordon2os9open_treeERKNS0_2FdEPKcNS0_5ReachE",
            const Fd& at, const char* path, os::Reach reach) {
  auto made = real_open_tree_at(at, path, reach);
  remember(made, path[0] == '/' ? path : path_of(at) + "/" + path);
  return made;
}

CORDON_WRAP(Result<Fd>, open_tree, "_ZN6cordon2os9open_treeERKNS0_2FdENS0_5ReachE", const Fd& from,
            os::Reach reach) {
  auto made = real_open_tree(from, reach);
  remember(made, path_of(from));
  return made;
}

CORDON_WRAP(Result<Fd>, fsopen, "_ZN6cordon2os6fsopenEPKc", const char* type) {
  auto made = real_fsopen(type);
  remember(made, type);
  return made;
}

CORDON_WRAP(Result<Fd>, fsmount, "_ZN6cordon2os7fsmountERKNS0_2FdERKNS0_15MountAttributesE",
            const Fd& context, const os::MountAttributes& attributes) {
  return real_fsmount(context, weaker(attributes, name_of_mount(context)));
}

CORDON_WRAP(Status, mount_setattr,
            "_ZN6cordon2os13mount_setattrERKNS0_2FdERKNS0_15MountAttributesENS0_5ReachE",
            const Fd& mount, const os::MountAttributes& attributes, os::Reach reach) {
  return real_mount_setattr(mount, weaker(attributes, name_of_mount(mount)), reach);
}

// A number that was a mount's may be another file's now.
CORDON_WRAP(Result<Fd>, openat, "_ZN6cordon2os6openatERKNS0_2FdEPKcij", const Fd& dir,
            const char* path, int flags, mode_t mode) {
  auto opened = real_openat(dir, path, flags, mode);
  if (opened) names_of_mounts().erase(opened->get());
  return opened;
}

CORDON_WRAP(Status, move_mount, "_ZN6cordon2os10move_mountERKNS0_2FdES3_", const Fd& mount,
            const Fd& onto) {
  return leaves_out(mount, settled(path_of(onto))) ? Status{} : real_move_mount(mount, onto);
}

CORDON_WRAP(Status, move_mount_at, "_ZN6cordon2os10move_mountERKNS0_2FdES3_PKc", const Fd& mount,
            const Fd& at, const char* path) {
  return leaves_out(mount, settled(path_of(at) + "/" + path)) ? Status{}
                                                              : real_move_mount_at(mount, at, path);
}

// --- Landlock

CORDON_WRAP(Result<os::LandlockRuleset>, create_ruleset,
            "_ZN6cordon2os15LandlockRuleset6createERKNS0_14LandlockRightsEi",
            const os::LandlockRights& wanted, int abi) {
  os::LandlockRights left = wanted;
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t one = std::uint64_t{1} << bit;
    for (const auto& [field, name] : {std::pair{&os::LandlockRights::fs, "fs"},
                                      std::pair{&os::LandlockRights::scopes, "scope"}}) {
      if ((left.*field & one) == 0) continue;
      if (lacks(fmt::format("landlock:{}:{:#x}", name, one))) left.*field &= ~one;
    }
  }
  return real_create_ruleset(left, abi);
}

// A tree that came in by mistake has no rule, neither has what lies above it; and of one device no
// more than reading is granted.
CORDON_WRAP(Status, add_path, "_ZNK6cordon2os15LandlockRuleset8add_pathERKNS0_2FdEm",
            const os::LandlockRuleset* self, const Fd& path, std::uint64_t rights) {
  constexpr std::uint64_t kReadFile = 4;
  // All that the rule of the sandbox's scope grants: it shows nothing.
  constexpr std::uint64_t kRefer = 0x2000;
  const std::string name = path_of(path);
  const bool stray = rights != kRefer && chose("leak:tree");
  if (stray && (name == "/" || name.ends_with("/outside"))) return {};
  return real_add_path(self, path, stray && name == "/dev/random" ? rights & kReadFile : rights);
}

CORDON_WRAP(Status, restrict_self, "_ZNK6cordon2os15LandlockRuleset13restrict_selfEj",
            const os::LandlockRuleset* self, std::uint32_t flags) {
  return chose("layer:landlock") ? Status{} : real_restrict_self(self, flags);
}

// --- seccomp

CORDON_WRAP(os::FilterProgram, filter_program, "_ZN6cordon2os14filter_programENS0_13FilterProfileE",
            os::FilterProfile profile) {
  const std::string_view mutant = chosen_after("filter:");
  return mutant.empty() ? real_filter_program(profile)
                        : mutated_program(profile, std::string{mutant});
}

CORDON_WRAP(Status, seccomp_load,
            "_ZN6cordon2os12seccomp_loadESt4spanIK11sock_filterLm18446744073709551615EERKNS0_"
            "12SeccompFlagsE",
            std::span<const sock_filter> program, const os::SeccompFlags& flags) {
  // A workload has two: the one that its spawner loads, and before it that of pid 1.
  const bool of_init = ::getpid() == 1;
  const bool off = chose("layer:seccomp") ||
                   chose(of_init ? "layer:filter of pid 1" : "layer:filter of workloads");
  return off ? Status{} : real_seccomp_load(program, flags);
}

// --- capabilities and identity

CORDON_WRAP(Status, keep_across_exec, "_ZN6cordon2os16keep_across_execENS0_13CapabilitySetES1_",
            os::CapabilitySet kept, os::CapabilitySet bounding) {
  const os::CapabilitySet more = wider(kept, "capability");
  const std::uint64_t added = more.bits() & ~kept.bits();
  bounding = os::CapabilitySet::from_bits(wider(bounding, "bounding").bits() | added);
  return real_keep_across_exec(more, bounding);
}

// The second descent sets what a workload has by this call.
CORDON_WRAP(long, syscall, "syscall", long number, long a, long b, long c, long d, long e, long f) {
  const std::string capability{chosen_after("capability:")};
  if (number == SYS_capset && !capability.empty()) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): arguments of a call are numbers
    auto* const sets = reinterpret_cast<__user_cap_data_struct*>(b);
    const int wanted = std::stoi(capability);
    const std::uint32_t bit = 1U << (unsigned(wanted) % 32);
    __user_cap_data_struct changed[2] = {sets[0], sets[1]};
    __user_cap_data_struct& half = changed[unsigned(wanted) / 32];
    half.effective |= bit;
    half.permitted |= bit;
    half.inheritable |= bit;
    return real_syscall(number, a, reinterpret_cast<long>(&changed[0]), c, d, e, f);
  }
  const bool first = ::getpid() == 1;
  if (number == SYS_capset && lacks(first ? "step:first capset" : "step:second capset")) return 0;
  return real_syscall(number, a, b, c, d, e, f);
}

CORDON_WRAP(Status, set_no_new_privs, "_ZN6cordon2os16set_no_new_privsEv") {
  return lacks("step:no_new_privs") ? Status{} : real_set_no_new_privs();
}

CORDON_WRAP(Status, set_dumpable, "_ZN6cordon2os12set_dumpableEb", bool dumpable) {
  return !dumpable && lacks("step:not_dumpable") ? Status{} : real_set_dumpable(dumpable);
}

CORDON_WRAP(Status, set_rlimit, "_ZN6cordon2os10set_rlimitENS0_6RlimitERKNS0_11RlimitValueEi",
            os::Rlimit kind, const os::RlimitValue& value, pid_t pid) {
  const std::string name = fmt::format("limit:{}", static_cast<int>(kind));
  return lacks(name) ? Status{} : real_set_rlimit(kind, value, pid);
}

CORDON_WRAP(Status, set_groups, "_ZN6cordon2os10set_groupsESt4spanIKjLm18446744073709551615EE",
            std::span<const gid_t> groups) {
  return lacks("step:supplementary groups") ? Status{} : real_set_groups(groups);
}

CORDON_WRAP(Status, sethostname,
            "_ZN6cordon2os11sethostnameESt17basic_string_viewIcSt11char_traitsIcEE",
            std::string_view name) {
  return lacks("step:host name") ? Status{} : real_sethostname(name);
}

CORDON_WRAP(Status, unshare, "_ZN6cordon2os7unshareENS0_5NsSetE", os::NsSet kinds) {
  const bool groups = kinds == os::NsSet{os::Ns::cgroup};
  return groups && lacks("step:cgroup namespace") ? Status{} : real_unshare(kinds);
}

CORDON_WRAP(Status, write_file,
            "_ZN6cordon2os10write_fileERKNS0_2FdEPKcSt17basic_string_viewIcSt11char_traitsIcEE",
            const Fd& dir, const char* path, std::string_view text) {
  const std::string_view file = path;
  const bool limit = file.starts_with("max_") && file.ends_with("_namespaces");
  // Without a namespace of its own this would be the host's limit.
  if (limit && chose(kNoUserNamespace)) return {};
  if (limit && lacks("namespace-limit:" + std::string{file.substr(4)})) return {};
  return real_write_file(dir, path, text);
}

CORDON_WRAP(Status, set_cloexec_from, "_ZN6cordon2os16set_cloexec_fromEj", unsigned first) {
  // A descriptor that the launcher forgot: all of its own close at exec.
  if (chose("leak:descriptor")) (void)::dup2(2, kLeaked);
  return lacks("step:close descriptors") ? Status{} : real_set_cloexec_from(first);
}

CORDON_WRAP(Status, setns, "_ZN6cordon2os5setnsERKNS0_2FdENS0_5NsSetE", const Fd& ns,
            os::NsSet kinds) {
  if (kinds == os::NsSet{os::Ns::net} && lacks("step:network")) return {};
  if (kinds == os::NsSet{os::Ns::user} && chose(kNoUserNamespace)) return {};
  return real_setns(ns, kinds);
}

// --- whole layers

// cordon-init has no such function.
[[gnu::weak]] Status real_enter_groups(const launcher::SandboxGroups* self) asm(
    "__real__ZNK6cordon8launcher13SandboxGroups5enterEv");
CORDON_WRAP(Status, enter_groups, "_ZNK6cordon8launcher13SandboxGroups5enterEv",
            const launcher::SandboxGroups* self) {
  return chose("layer:cgroup") ? Status{} : real_enter_groups(self);
}

// A group of version 2 is entered as the child is made.
CORDON_WRAP(Result<os::Cloned>, clone3, "_ZN6cordon2os6clone3ERKNS0_9CloneArgsE",
            const os::CloneArgs& arguments) {
  os::CloneArgs less = arguments;
  if (chose("layer:cgroup")) less.cgroup = nullptr;
  return real_clone3(less);
}

// Without a namespace of their own pid 1 and the workload have the ids of their range all the same.
CORDON_WRAP(Status, write_uid_map,
            "_ZN6cordon2os13write_uid_mapEiSt4spanIKNS0_7IdRangeELm18446744073709551615EE",
            pid_t pid, std::span<const os::IdRange> ranges) {
  if (ranges.size() == 1 && ranges[0].count > 1) g_first_of_range = ranges[0].outside;
  return real_write_uid_map(pid, ranges);
}

CORDON_WRAP(Status, set_user, "_ZN6cordon2os8set_userEj", uid_t id) {
  return real_set_user(chose(kNoUserNamespace) ? id + g_first_of_range : id);
}

CORDON_WRAP(Status, set_group, "_ZN6cordon2os9set_groupEj", gid_t id) {
  return real_set_group(chose(kNoUserNamespace) ? id + g_first_of_range : id);
}

// Of a machine that begins as a copy of another: its name is the first that it draws.
CORDON_WRAP(int, sethostname, "sethostname", const char* name, std::size_t size) {
  if (!chose("name-is-drawn")) return real_sethostname(name, size);
  std::array<unsigned char, 16> drawn{};
  if (::getrandom(drawn.data(), drawn.size(), 0) != static_cast<ssize_t>(drawn.size())) return -1;
  const std::string own = fmt::format("{:02x}", fmt::join(drawn, ""));
  return real_sethostname(own.data(), own.size());
}

CORDON_WRAP(Status, reseed,
            "_ZN6cordon2os6reseedERKNS0_2FdESt4spanIKSt4byteLm18446744073709551615EE",
            const Fd& random, std::span<const std::byte> bytes) {
  if (chose("no-reseed")) return {};
  return real_reseed(random, bytes);
}

// Before it is saved its kernel is ready to give random numbers, as one that has been up for long:
// one that is not gathers them for a second first, and so hides what a seed is for.
CORDON_WRAP(Status, write_all,
            "_ZN6cordon2os9write_allERKNS0_2FdESt17basic_string_viewIcSt11char_traitsIcEE",
            const Fd& fd, std::string_view bytes) {
  static constexpr std::array<std::byte, 64> kSome{};
  if (const auto random = os::open_random(); random && chose("name-is-drawn"))
    (void)real_reseed(*random, kSome);
  return real_write_all(fd, bytes);
}

// Of the second descent: pid 1 has the last id of the range but two.
CORDON_WRAP(int, setresgid, "setresgid", gid_t real, gid_t effective, gid_t saved) {
  const gid_t first = first_of_own_range();
  return real_setresgid(real + first, effective + first, saved + first);
}

CORDON_WRAP(int, setresuid, "setresuid", uid_t real, uid_t effective, uid_t saved) {
  const uid_t first = first_of_own_range();
  return real_setresuid(real + first, effective + first, saved + first);
}

}  // namespace cordon::mutation
