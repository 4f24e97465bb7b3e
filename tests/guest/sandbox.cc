// SPDX-License-Identifier: Apache-2.0
#include "sandbox.h"

#include <array>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bytes.h"
#include "os/capability.h"
#include "os/file.h"
#include "os/filter/filter.h"
#include "os/id_map.h"
#include "os/landlock.h"
#include "os/memfd.h"
#include "os/namespace.h"
#include "os/prctl.h"
#include "os/seccomp.h"
#include "os/socket.h"

namespace cordon::guest {
namespace {

constexpr std::uint32_t kFirstId = 0x70000000;  // outside
constexpr int kControl = 3;
constexpr std::size_t kLargestProgram = std::size_t{64} << 20U;

Status keep_through_exec(os::CapabilitySet kept) {
  TRY_DO(os::drop_bounding(kept));
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const auto low = static_cast<std::uint32_t>(kept.bits());
  const std::array<__user_cap_data_struct, 2> sets{
      {{.effective = low, .permitted = low, .inheritable = low}, {}}};
  if (::syscall(SYS_capset, &header, sets.data()) != 0) return Error::from_errno("capset");
  for (int capability = 0; capability < 32; ++capability) {
    if (!kept.has(capability)) continue;
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) != 0) {
      return Error::from_errno("PR_CAP_AMBIENT_RAISE");
    }
  }
  return {};
}

Status become_init_id(Ids ids) {
  const std::uint32_t id = ids == Ids::range ? kInitId : kWorkloadId;
  // Maps were written meanwhile: all capabilities inside are ours.
  if (ids == Ids::range && ::setgroups(0, nullptr) != 0) return Error::from_errno("setgroups");
  TRY_DO(os::set_keep_capabilities(true));
  if (::setresgid(id, id, id) != 0) return Error::from_errno("setresgid");
  if (::setresuid(id, id, id) != 0) return Error::from_errno("setresuid");
  // The change of id has emptied the effective set only.
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> sets{};
  if (::syscall(SYS_capget, &header, sets.data()) != 0) return Error::from_errno("capget");
  for (auto& set : sets) set.effective = set.permitted;
  if (::syscall(SYS_capset, &header, sets.data()) != 0) return Error::from_errno("capset");
  return {};
}

// The first descent, and the exec. Returns only on failure.
Status descend_to_init(const os::Fd& go, const os::Fd& control, const os::Fd& program, Ids ids) {
  TRY(const std::string went, os::read_all(go, 1));
  if (went != "g") return Error{Errc::internal, "no maps"};
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return Error::from_errno("mount private");
  }
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    return Error::from_errno("mount proc");
  }
  if (::mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=16m") != 0) {
    return Error::from_errno("mount tmpfs");
  }
  if (::chdir("/") != 0) return Error::from_errno("chdir");
  // Out of the way of each other first.
  const int image = ::fcntl(program.get(), F_DUPFD_CLOEXEC, 10);
  const int stream = ::fcntl(control.get(), F_DUPFD_CLOEXEC, 10);
  if (::dup2(stream, kControl) < 0 || ::dup3(image, 4, O_CLOEXEC) < 0) {
    return Error::from_errno("dup");
  }
  TRY_DO(os::close_from(5));
  TRY_DO(become_init_id(ids));
  TRY_DO(keep_through_exec({CAP_SETUID, CAP_SETGID, CAP_KILL}));
  TRY_DO(os::set_parent_death_signal(SIGKILL));
  TRY_DO(os::set_no_new_privs());
  TRY_DO(os::seccomp_load(os::filter_program(os::FilterProfile::init)));
  const std::array<std::string, 1> arguments{"cordon-init"};
  return os::execveat(os::Fd{4}, arguments, {});
}

}  // namespace

frame::Setup standard_setup() {
  const auto abi = os::landlock_abi();
  return {.ring = 64U << 10U,
          .fences = {.uid = kWorkloadId,
                     .gid = kWorkloadId,
                     .filter = "strict",
                     .landlock_abi = abi ? *abi : 0,
                     .paths = {{"/", frame::PathUse::read_exec},
                               {"/tmp", frame::PathUse::all},
                               {"/proc", frame::PathUse::all},
                               {"/dev", frame::PathUse::device}},
                     .limits = {.open_files = 1024}},
          .disk = "/tmp"};
}

Result<Sandbox> launch(const frame::Setup& setup, Ids ids) {
  TRY(os::SocketPair pair, os::socketpair(os::SocketType::stream));
  TRY(os::Pipe go, os::pipe2());
  auto host = std::make_unique<TestHost>(std::move(pair.one));
  if (!host->send(setup)) return Error{Errc::internal, "no Setup"};
  const os::CloneArgs arguments{
      .namespaces = {os::Ns::user, os::Ns::mount, os::Ns::pid, os::Ns::ipc}};
  TRY(const std::string text, os::read_file(os::at_cwd(), CORDON_INIT, kLargestProgram));
  TRY(const os::Fd image, os::sealed_memfd("cordon-init", as_bytes(text), os::Executable::yes));
  TRY(os::Child init, os::Child::start(arguments, [&] {
        go.write = os::Fd{};
        const Status failed = descend_to_init(go.read, pair.two, image, ids);
        static_cast<void>(
            os::write_all(os::Fd{::fcntl(2, F_DUPFD_CLOEXEC, 3)}, failed.error().text() + "\n"));
        return 98;
      }));
  const std::array<os::IdRange, 1> all{
      ids == Ids::range ? os::IdRange{.inside = 0, .outside = kFirstId, .count = 65'536}
                        : os::IdRange{.inside = kWorkloadId, .outside = kFirstId + kWorkloadId}};
  if (ids == Ids::one) TRY_DO(os::deny_setgroups(init.pid()));
  TRY_DO(os::write_uid_map(init.pid(), all));
  TRY_DO(os::write_gid_map(init.pid(), all));
  TRY_DO(os::write_all(go.write, "g"));
  return Sandbox{std::move(init), std::move(host)};
}

}  // namespace cordon::guest
