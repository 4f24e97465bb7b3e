// SPDX-License-Identifier: Apache-2.0
#include "launcher/engine.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "launcher/descriptors.h"
#include "launcher/devices.h"
#include "launcher/engine_files.h"
#include "launcher/engine_trace.h"
#include "launcher/inner_network.h"
#include "launcher/mount_point.h"
#include "launcher/root.h"
#include "launcher/runsc.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/mount.h"
#include "os/namespace.h"
#include "os/prctl.h"
#include "os/process.h"
#include "os/seccomp.h"

namespace cordon::launcher {
namespace {

// All that an engine sees of files: itself, what it is told, and the sandbox's tree.
Result<os::Fd> make_engine_root(const os::Fd& disk, const Ground& ground,
                                const frame::LaunchPlan& plan, const EngineParts& parts,
                                const Devices& devices) {
  TRY(const os::Fd place, make_directory_in(disk, "/engine"));
  TRY(const os::Fd mount, make_small_tmpfs());
  TRY_DO(os::move_mount(mount, place));
  TRY(os::Fd root, os::openat(disk, "engine", O_PATH | O_DIRECTORY));
  for (const char* name : {"/etc", "/run", "/tmp"}) {
    TRY(const os::Fd made, make_directory_in(root, name));
  }
  const auto null = std::ranges::find(devices, std::string_view{"null"}, &Device::name);
  if (null == devices.end()) return Error{Errc::unavailable, "no /dev/null"};
  TRY(const os::Fd null_place, make_file_in(root, "/dev/null"));
  TRY_DO(os::move_mount(null->tree, null_place));
  TRY(const os::Fd program, make_file_in(root, kEngineProgram));
  TRY_DO(os::move_mount(parts.program, program));
  TRY(const os::Fd bundle, make_directory_in(root, kBundle));
  TRY_DO(os::create_file(bundle, "config.json", runsc_bundle(plan), 0444));
  if (plan.traced) TRY_DO(os::create_file(bundle, kTraceSessionName, trace_session(), 0444));
  // Its own, which the engine's namespace may mount anew only where one is seen whole.
  TRY(const os::Fd proc, make_directory_in(root, "/proc"));
  TRY(const os::Fd fresh, make_fresh_proc());
  TRY_DO(os::move_mount(fresh, proc));
  TRY(const os::Fd sandbox, make_directory_in(root, kSandboxTree));
  TRY_DO(os::move_mount(ground.root, sandbox));
  return root;
}

// Behind it files have no extended attributes. Its file server asks for those of a link through a
// descriptor by which Linux tells none (EBADF), and `ls -l` passes that on; EOPNOTSUPP it
// understands.
// And each of the programs that it starts from itself, six in a row, registers for barriers within
// its process, and waits for every processor of the host to have been elsewhere (an RCU grace
// period, ten milliseconds). By the platforms that we have nobody asks for such a barrier, and who
// did would be refused (EPERM), not deceived. What programs inside ask for is another.
constexpr std::array kCallsOfEngine = {
    sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
    sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 8, 0, SYS_fgetxattr},
    sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 7, 0, SYS_flistxattr},
    sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 6, 0, SYS_fsetxattr},
    sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 5, 0, SYS_fremovexattr},
    sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 2, SYS_membarrier},
    sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, args)},
    sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 1, 0, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED},
    sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
    sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO},  // with no error: it is as if done
    sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EOPNOTSUPP},
};

// Its kernel puts its standard streams to 256 and above. A table of descriptors that has to grow
// while threads share it waits for every processor too; one that has something there is as large
// from the beginning, through each fork and exec.
constexpr int kFarDescriptor = 300;

Status widen_descriptors() {
  TRY(const os::Fd null, os::openat(os::at_cwd(), "/dev/null", O_RDONLY));
  // Where a limit forbids it, it takes longer.
  static_cast<void>(::dup2(null.get(), kFarDescriptor));
  return {};
}

// In namespaces that belong to the sandbox's own user namespace, as its root.
Status be_engine(const Descent& descent) {
  const EngineParts& parts = *descent.engine;
  const frame::LaunchPlan& plan = **descent.plan;
  if (descent.may_set_groups) TRY_DO(os::set_groups({}));
  TRY_DO(os::set_group(0));
  TRY_DO(os::set_user(0));
  TRY(const os::Fd proc, make_fresh_proc());
  TRY_DO(os::move_mount(proc, os::at_cwd(), "/proc"));
  TRY(const os::Fd run, make_small_tmpfs());
  TRY_DO(os::move_mount(run, os::at_cwd(), "/run"));
  if (plan.network) {
    // Older ones take a namespace in which they see this directory for the host's own.
    TRY(const os::Fd blank, make_small_tmpfs());
    TRY_DO(os::move_mount(blank, os::at_cwd(), "/proc/sys/net"));
  }
  TRY_DO(os::set_no_new_privs());
  TRY_DO(os::seccomp_load(kCallsOfEngine));
  TRY_DO(
      place_descriptors({&parts.to_guest.read, &parts.from_guest.write, &parts.words.write}, {}));
  TRY_DO(widen_descriptors());
  // By its name: it looks for itself again.
  return os::execve(kEngineProgram, runsc_arguments(plan), {});
}

}  // namespace

Result<EngineParts> open_gvisor(const std::string& path, Pins& pins) {
  EngineParts parts;
  if (path.empty()) return Error{Errc::unavailable, "the floor names no runsc"};
  TRY(const os::Fd file, pins.open(path, O_PATH));
  TRY(parts.program, detach_program(file));
  TRY(const os::Fd init, open_beside("cordon-init"));
  TRY(parts.init, detach_program(init));
  TRY(parts.relay, open_beside("cordon-relay"));
  TRY(parts.to_guest, os::pipe2());
  TRY(parts.from_guest, os::pipe2());
  TRY(parts.words, os::pipe2());
  return parts;
}

Result<EngineParts> open_engine(const frame::LaunchPlan& plan, const Floor& floor, Pins& pins) {
  if (plan.engine == frame::Engine::gvisor) return open_gvisor(floor.runsc, pins);
  EngineParts parts;
  TRY(parts.machine.emplace(), open_machine(floor.qemu, floor.machine, plan.machine.kvm, pins));
  TRY(parts.relay, open_beside("cordon-relay"));
  TRY(parts.words, os::pipe2());
  // One socket: the relay has it twice.
  TRY(parts.to_guest.write, os::duplicate(parts.machine->control.one));
  TRY(parts.from_guest.read, os::duplicate(parts.machine->control.one));
  return parts;
}

Status enter_engine_network(Descent& descent) {
  const frame::LaunchPlan& plan = **descent.plan;
  if (!plan.network) return os::setns(descent.network, os::Ns::net);
  return enter_inner_network(descent.network, descent.user_namespace);
}

Status build_engine_tree(Descent& descent) {
  const JudgedPlan& plan = *descent.plan;
  const EngineParts& parts = *descent.engine;
  TRY(const Devices devices, open_devices());
  TRY(Ground ground, lay_bare_ground(ground_plan(plan, descent.ids, descent.sources)));
  // The engine's own are mounted there.
  for (const char* name : {"/proc", "/dev"}) {
    TRY(const os::Fd made, make_directory_in(ground.root, name));
  }
  TRY(const os::Fd init, make_file_in(ground.root, kInitPlace));
  TRY_DO(os::move_mount(parts.init, init));
  TRY_DO(furnish(ground, plan, descent.ids, descent.sources));
  TRY(const os::Fd root, make_engine_root(ground.disk, ground, *plan, parts, devices));
  TRY_DO(enter_root(root));
  if (plan->traced) {
    TRY(descent.trace, listen_for_trace());
  }
  return keep_mounts_apart();
}

Status start_engine(Descent& descent) {
  const EngineParts& parts = *descent.engine;
  TRY(os::Cloned cloned,
      os::clone3({.namespaces = os::NsSet{os::Ns::mount, os::Ns::pid, os::Ns::ipc},
                  .clear_signal_handlers = true}));
  if (cloned.pid == 0) {
    const Status failed = be_engine(descent);
    if (!failed) static_cast<void>(os::write_all(parts.words.write, failed.error().text()));
    ::_exit(1);
  }
  descent.engine_end = std::move(cloned.pidfd);
  return {};
}

Status place_relay_descriptors(Descent& descent) {
  const EngineParts& parts = *descent.engine;
  TRY(const os::Fd null, os::openat(os::at_cwd(), "/dev/null", O_RDWR));
  TRY(descent.relay, lift(parts.relay));
  std::vector<const os::Fd*> wanted{&descent.control, &parts.to_guest.write, &parts.from_guest.read,
                                    &parts.words.read, &descent.engine_end};
  if (descent.trace) wanted.push_back(&descent.trace);
  if (parts.machine && parts.machine->start != MachineStart::cold) {
    wanted.push_back(&parts.machine->monitor.one);
    wanted.push_back(&parts.machine->state);
  }
  return place_descriptors({&null, &null, &null}, wanted);
}

}  // namespace cordon::launcher
