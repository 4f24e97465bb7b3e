// SPDX-License-Identifier: Apache-2.0
#include "launcher/machine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fcntl.h>
#include <signal.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/descriptors.h"
#include "launcher/devices.h"
#include "launcher/engine.h"
#include "launcher/engine_files.h"
#include "launcher/inner_network.h"
#include "launcher/mount_point.h"
#include "launcher/own_program.h"
#include "launcher/qemu.h"
#include "launcher/root.h"
#include "os/capability.h"
#include "os/file.h"
#include "os/filter/filter.h"
#include "os/identity.h"
#include "os/memfd.h"
#include "os/mount.h"
#include "os/namespace.h"
#include "os/prctl.h"
#include "os/process.h"
#include "os/tap.h"

namespace cordon::launcher {
namespace {

// Of a tree with nothing else in it. Each of the two has one of them as its root.
constexpr const char* kTree = "/sandbox";
constexpr const char* kMachine = "/machine";

// Where libraries and firmware lie; what a host does not have is passed over.
constexpr const char* kLibraries[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/share/qemu",
                                      "/usr/share/seabios"};
struct RootLink {
  const char* name;
  const char* to;
};
constexpr RootLink kRootLinks[] = {{"lib", "usr/lib"}, {"lib64", "usr/lib64"}};

// "cpu MHz : 2100.000", in kilohertz. Of a processor that does not tell: a usual one.
std::uint64_t processor_kilohertz() {
  constexpr std::uint64_t kUsual = 2'000'000;
  const auto text = os::read_file(os::at_cwd(), "/proc/cpuinfo");
  if (!text) return kUsual;
  const std::size_t line = text->find("cpu MHz");
  const std::size_t colon = line == std::string::npos ? line : text->find(':', line);
  if (colon == std::string::npos) return kUsual;
  const double megahertz = std::strtod(text->c_str() + colon + 1, nullptr);
  return megahertz > 1 ? static_cast<std::uint64_t>(std::lround(megahertz * 1000)) : kUsual;
}

Result<std::vector<ShownTree>> open_shown(const std::string& qemu, Pins& pins) {
  std::vector<ShownTree> shown;
  TRY(const os::Fd program, pins.open(qemu, O_PATH));
  TRY(os::Fd tree, detach_program(program));
  shown.push_back({.path = kQemuPlace, .tree = std::move(tree), .directory = false});
  for (const char* path : kLibraries) {
    auto directory = os::open_tree(os::at_cwd(), path, os::Reach::whole_tree);
    if (!directory) continue;
    TRY_DO(os::mount_setattr(*directory, {.read_only = true, .nosuid = true, .nodev = true}));
    shown.push_back({.path = path, .tree = *std::move(directory)});
  }
  return shown;
}

Status move_to(const os::Fd& root, const ShownTree& shown) {
  TRY(const os::Fd onto,
      shown.directory ? make_directory_in(root, shown.path) : make_file_in(root, shown.path));
  return os::move_mount(shown.tree, onto);
}

// All that QEMU sees of files.
Status make_machine_root(const os::Fd& top, const MachineParts& parts, const Devices& devices) {
  TRY(const os::Fd place, make_directory_in(top, kMachine));
  TRY(const os::Fd mount, make_small_tmpfs());
  TRY_DO(os::move_mount(mount, place));
  TRY(const os::Fd root, os::openat(top, "machine", O_PATH | O_DIRECTORY));
  for (const char* name : {"/proc", "/tmp"}) {
    TRY(const os::Fd made, make_directory_in(root, name));
  }
  for (const RootLink& link : kRootLinks) {
    if (::symlinkat(link.to, root.get(), link.name) != 0) return Error::from_errno("symlinkat");
  }
  for (const ShownTree& shown : parts.shown) TRY_DO(move_to(root, shown));
  const auto null = std::ranges::find(devices, std::string_view{"null"}, &Device::name);
  if (null == devices.end()) return Error{Errc::unavailable, "no /dev/null"};
  TRY(const os::Fd null_place, make_file_in(root, "/dev/null"));
  TRY_DO(os::move_mount(null->tree, null_place));
  if (!parts.kvm) return {};
  TRY(const os::Fd kvm_place, make_file_in(root, "/dev/kvm"));
  return os::move_mount(parts.kvm, kvm_place);
}

// Before: the plan's engine is a machine.
const MachineParts& machine_of(const Descent& descent) {
  return *descent.engine->machine;  // NOLINT(bugprone-unchecked-optional-access)
}

Status become(const Descent& descent, std::uint32_t uid, std::uint32_t gid) {
  if (descent.may_set_groups) TRY_DO(os::set_groups({}));
  TRY_DO(os::set_group(gid));
  TRY_DO(os::set_user(uid));
  TRY_DO(os::keep_none());
  return os::set_no_new_privs();
}

// With the id of a sandbox's pid 1, so that it and who serves files cannot reach each other; where
// there is one id they share it.
Status be_qemu(const Descent& descent) {
  const MachineParts& parts = machine_of(descent);
  const frame::LaunchPlan& plan = **descent.plan;
  TRY(const os::Fd proc, make_fresh_proc());
  TRY_DO(become_root(kMachine));
  TRY_DO(os::move_mount(proc, os::at_cwd(), "/proc"));
  TRY(const os::Fd null, os::openat(os::at_cwd(), "/dev/null", O_RDWR));
  const bool one_id = descent.ids.init_uid == descent.ids.workload_uid;
  TRY_DO(become(descent, one_id ? descent.fences.uid : kInitId,
                one_id ? descent.fences.gid : kInitId));
  const auto or_null = [&null](const os::Fd& fd) { return fd ? &fd : &null; };
  const bool is_loaded = parts.start == MachineStart::load;
  const std::array<const os::Fd*, 7> wanted{
      &parts.control.two,
      &parts.files.two,
      is_loaded ? &null : &parts.kernel,
      is_loaded ? &null : &parts.initramfs,
      or_null(descent.link),
      or_null(parts.memory),
      or_null(parts.monitor.two),
  };
  const os::Fd& words = descent.engine->words.write;
  TRY_DO(place_descriptors({&null, &words, &words}, wanted));
  // Its threads allocate little: one heap for all of them is megabytes less.
  const std::array<std::string, 1> environment{"MALLOC_ARENA_MAX=1"};
  return os::execve(kQemuPlace, qemu_arguments(plan, parts.start, parts.kilohertz), environment);
}

// As the workload itself: what it may not do in its tree, nobody does for it.
Status be_server(const Descent& descent) {
  const MachineParts& parts = machine_of(descent);
  TRY(const os::Fd null, os::openat(os::at_cwd(), "/machine/dev/null", O_RDWR));
  TRY(const os::Fd program, lift(parts.server));
  TRY_DO(become_root(kTree));
  TRY_DO(become(descent, descent.fences.uid, descent.fences.gid));
  const std::array<const os::Fd*, 1> wanted{&parts.files.one};
  std::vector<std::string> arguments{"cordon-files"};
  // The floor has refused such a filter where anything of the host's can be written.
  const auto filter = os::filter_profile_from_string(descent.fences.filter);
  if (filter && !os::has_nosetid(*filter)) arguments.emplace_back("setid");
  if (parts.start == MachineStart::save) arguments.emplace_back("unbelieved");
  TRY_DO(place_descriptors({&null, &null, &descent.engine->words.write}, wanted));
  return os::execveat(program, arguments, {});
}

[[noreturn]] void fail(const Descent& descent, const Status& failed) {
  if (!failed) {
    static_cast<void>(os::write_all(descent.engine->words.write, failed.error().text()));
  }
  ::_exit(1);
}

}  // namespace

Result<MachineParts> open_machine(const std::string& qemu, const std::string& directory, bool kvm,
                                  Pins& pins) {
  if (qemu.empty()) return Error{Errc::unavailable, "the floor names no qemu"};
  if (directory.empty()) return Error{Errc::unavailable, "the floor names no machine"};
  MachineParts parts;
  TRY(parts.shown, open_shown(qemu, pins));
  TRY(parts.kernel, pins.open(directory + kMachineKernel, O_RDONLY));
  TRY(parts.initramfs, pins.open(directory + kMachineFiles, O_RDONLY));
  TRY(parts.server, open_beside("cordon-files"));
  TRY(parts.control, os::socketpair(os::SocketType::stream));
  TRY(parts.files, os::socketpair(os::SocketType::stream));
  if (kvm) {
    TRY(parts.kvm, os::open_tree(os::at_cwd(), "/dev/kvm", os::Reach::one));
  }
  parts.kilohertz = processor_kilohertz();
  return parts;
}

Status prepare_to_save(MachineParts& parts, std::uint64_t memory) {
  parts.start = MachineStart::save;
  TRY(parts.monitor, os::socketpair(os::SocketType::stream));
  TRY(parts.memory, os::memfd_create("machine"));
  TRY(parts.state, os::memfd_create("machine-state"));
  if (::ftruncate(parts.memory.get(), static_cast<off_t>(memory)) != 0) {
    return Error::from_errno("ftruncate");
  }
  return {};
}

Status prepare_to_load(MachineParts& parts, const MachineTemplate& saved) {
  parts.start = MachineStart::load;
  TRY(parts.monitor, os::socketpair(os::SocketType::stream));
  TRY(parts.memory, os::duplicate(saved.memory));
  // Each reads it from the start: a copy of the descriptor would share its position.
  TRY(parts.state, os::openat(os::at_cwd(), os::proc_path(saved.state).c_str(), O_RDONLY));
  return {};
}

Status enter_machine_network(Descent& descent) {
  TRY_DO(os::setns(descent.network, os::Ns::net));
  const bool has_network = (*descent.plan)->network;
  if (!has_network && machine_of(descent).start == MachineStart::cold) return {};
  TRY(descent.link, os::make_tap(kGuestLink));
  if (!has_network) return {};
  // What speaks IPv6 there finds nobody.
  static_cast<void>(
      os::write_file(os::at_cwd(), "/proc/sys/net/ipv6/conf/guest/disable_ipv6", "1"));
  TRY_DO(join_guest_link(kGuestLink));
  // The link's far end is a descriptor; what is steered is nowhere near who holds it.
  return os::unshare(os::Ns::net);
}

Status build_machine_trees(Descent& descent) {
  const JudgedPlan& plan = *descent.plan;
  TRY(const Devices devices, open_devices());
  TRY(Ground ground, lay_bare_ground(ground_plan(plan, descent.ids, descent.sources)));
  // The machine's own are mounted there.
  for (const char* name : {"/proc", "/dev"}) {
    TRY(const os::Fd made, make_directory_in(ground.root, name));
  }
  TRY_DO(furnish(ground, plan, descent.ids, descent.sources));
  TRY(const os::Fd place, make_directory_in(ground.disk, "/engine"));
  TRY(const os::Fd mount, make_small_tmpfs());
  TRY_DO(os::move_mount(mount, place));
  TRY(const os::Fd top, os::openat(ground.disk, "engine", O_PATH | O_DIRECTORY));
  TRY_DO(make_machine_root(top, machine_of(descent), devices));
  TRY(const os::Fd proc, make_directory_in(top, "/proc"));
  TRY(const os::Fd fresh, make_fresh_proc());
  TRY_DO(os::move_mount(fresh, proc));
  TRY(const os::Fd null, make_file_in(top, "/dev/null"));
  TRY(const os::Fd shared, os::open_tree(top, "machine/dev/null", os::Reach::one));
  TRY_DO(os::move_mount(shared, null));
  TRY(const os::Fd sandbox, make_directory_in(top, kTree));
  TRY_DO(os::move_mount(ground.root, sandbox));
  TRY_DO(enter_root(top));
  return keep_mounts_apart();
}

// The server is pid 1 of the two: with it QEMU ends, and without QEMU its stream does.
Status start_machine(Descent& descent) {
  TRY(os::Cloned server,
      os::clone3({.namespaces = os::NsSet{os::Ns::mount, os::Ns::pid, os::Ns::ipc},
                  .clear_signal_handlers = true}));
  if (server.pid == 0) {
    auto qemu = os::clone3({.namespaces = os::NsSet{os::Ns::mount}, .exit_signal = 0});
    if (!qemu) fail(descent, qemu.error());
    if (qemu->pid == 0) fail(descent, be_qemu(descent));
    fail(descent, be_server(descent));
  }
  descent.engine_end = std::move(server.pidfd);
  return {};
}

}  // namespace cordon::launcher
