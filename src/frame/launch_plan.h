// SPDX-License-Identifier: Apache-2.0
// What a launcher is asked to build: a whole sandbox as a value. Made by plan::lower, judged by the
// launcher's floor; it names filters and never carries code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "frame/fences.h"
#include "frame/guest.h"

namespace cordon::frame {

inline constexpr std::size_t kLongestPlan = std::size_t{192} << 10U;  // a socket message's bound

enum class RootSource : std::uint8_t {
  host,       // the trees in `binds`, over a skeleton of our own
  directory,  // `root_path`, read-only, with the skeleton's mounts over it
  erofs,      // the same of the file system in the file `root_path`
};
constexpr RootSource last_of(RootSource) noexcept { return RootSource::erofs; }

// The file of a root: it has this digest, and while it is marked so nobody has touched it since it
// was last read.
struct RootFile {
  std::string digest;  // "sha256:…"
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::uint64_t changed = 0;  // nanoseconds since 1970, by the kernel
  CORDON_FIELDS(RootFile, self.digest, self.inode, self.size, self.changed);
};

// A file or directory of the host, shown inside.
struct Bind {
  std::string source;  // absolute path on the host
  std::string target;  // absolute path inside
  bool writable = false;
  bool optional = false;  // passed over where the source does not exist
  CORDON_FIELDS(Bind, self.source, self.target, self.writable, self.optional);
};

// A file of Cordon's own making in the skeleton.
struct OwnFile {
  std::string target;
  std::string text;
  CORDON_FIELDS(OwnFile, self.target, self.text);
};

enum class PinKind : std::uint8_t {
  hide,       // an empty file or directory without rights lies over it
  read_only,  // it lies over itself, read-only
};
constexpr PinKind last_of(PinKind) noexcept { return PinKind::read_only; }

// A path inside the workspace that is held by a mount; it and the directories above it cannot be
// renamed or removed inside.
struct Pin {
  std::string path;  // relative to the workspace
  PinKind kind = PinKind::read_only;
  bool directory = false;    // what it is, or is to be
  bool placeholder = false;  // does not exist: made in a layer of our own (review or own disk only)
  CORDON_FIELDS(Pin, self.path, self.kind, self.directory, self.placeholder);
};

enum class WorkspaceKind : std::uint8_t {
  own_disk,  // ephemeral, on the sandbox's own disk
  live,      // `source`, written through
  review,    // `source` below an overlay whose upper layer is `state`/upper
};
constexpr WorkspaceKind last_of(WorkspaceKind) noexcept { return WorkspaceKind::review; }

struct Workspace {
  WorkspaceKind kind = WorkspaceKind::own_disk;
  std::string source;  // on the host
  std::string target;  // inside
  bool writable = true;
  std::string state;  // of `review`: the run's directory on the host, holding upper and work
  std::vector<Pin> pins;
  CORDON_FIELDS(Workspace, self.kind, self.source, self.target, self.writable, self.state,
                self.pins);
};

enum class Ids : std::uint8_t {
  range,   // 65,536 ids of the sandbox's own; host directories are attached id-mapped
  caller,  // the caller's own id is the workload's
};
constexpr Ids last_of(Ids) noexcept { return Ids::caller; }

// Held by the kernel in a control group of the sandbox's own. Absent: not limited.
struct GroupLimits {
  std::optional<std::uint64_t> memory;  // swap is never given beside it
  std::optional<std::uint64_t> pids;
  std::optional<std::uint64_t> milli_cpus;
  std::optional<std::uint64_t> io_bytes;  // a second, each way, on the disk of a live workspace
  CORDON_FIELDS(GroupLimits, self.memory, self.pids, self.milli_cpus, self.io_bytes);
};

// The sandbox's own disk: /tmp, /var/tmp, the home, an ephemeral workspace.
struct Disk {
  std::uint64_t bytes = 0;  // never 0 in a plan that passes the floor
  std::uint64_t inodes = 0;
  bool image = false;  // a file-backed image instead of memory; only as root
  CORDON_FIELDS(Disk, self.bytes, self.inodes, self.image);
};

// Of images: the tables of more files, or of less space, are not worth making.
inline constexpr std::uint64_t kSmallestImage = std::uint64_t{1} << 20U;
inline constexpr std::uint64_t kImageBytesPerInode = 1024;

// What stands between the workload and the host's kernel.
enum class Engine : std::uint8_t {
  none,     // nothing but fences: the process tier
  gvisor,   // runsc, a kernel in user space, in front of the same tree
  machine,  // QEMU, a virtual machine to which that tree is served
};
constexpr Engine last_of(Engine) noexcept { return Engine::machine; }

// Whose runsc is run in local use: what the caller's environment names, else this one. A service
// runs what its floor names.
inline constexpr const char* kRunscVariable = "CORDON_RUNSC";
inline constexpr const char* kLocalRunsc = "/usr/bin/runsc";
// The same of QEMU, and of the directory with a machine's kernel.
inline constexpr const char* kQemuVariable = "CORDON_QEMU";
inline constexpr const char* kLocalQemu = "/usr/bin/qemu-system-x86_64";
inline constexpr const char* kMachineVariable = "CORDON_MACHINE";

// How runsc runs its programs. One that is older than its `--directfs` lets nobody but its file
// server open files; any other is told so.
enum class Platform : std::uint8_t { old_ptrace, ptrace, systrap };
constexpr Platform last_of(Platform) noexcept { return Platform::systrap; }
std::string_view to_string(Platform platform) noexcept;
std::optional<Platform> platform_from(std::string_view text) noexcept;

// What a machine is made of beside its files.
struct Machine {
  std::uint64_t memory = 0;  // bytes
  bool kvm = false;          // the processor runs it; false: its instructions are translated
  CORDON_FIELDS(Machine, self.memory, self.kvm);
};
inline constexpr std::uint64_t kLeastMachine = std::uint64_t{128} << 20U;
inline constexpr std::uint64_t kUsualMachine = std::uint64_t{256} << 20U;

struct LaunchPlan {
  std::string id;                // of the sandbox; in the name of every kernel object
  std::uint32_t namespaces = 0;  // CLONE_NEW… bits; the floor wants all of kNamespaces
  bool no_new_privs = false;
  bool network = false;  // what wants out is handed to the tenant's egress; false: loopback only
  std::string tenant;    // whose egress; empty in local use
  Engine engine = Engine::none;
  Platform platform = Platform::ptrace;  // of `gvisor`
  Machine machine;                       // of `machine`
  bool traced = false;                   // it tells what programs inside do
  // What is written to the root, which is not the host's, goes to a layer on the own disk.
  bool root_layer = false;
  Ids ids = Ids::caller;
  std::string host_name = "cordon";
  RootSource root = RootSource::host;
  std::string root_path;
  RootFile root_file;  // of `erofs`
  // In such a root: where the image has none they are made, and are the workload's.
  std::vector<std::string> homes;
  std::vector<Bind> binds;  // in the order of mounting
  std::vector<OwnFile> files;
  std::vector<std::string> directories;  // on the own disk, writable, belonging to the workload
  Workspace workspace;
  Disk disk;
  bool groups = false;  // limits are kept by control groups; false: not available to this caller
  GroupLimits limits;
  Setup setup;  // handed to cordon-init
  CORDON_FIELDS(LaunchPlan, self.id, self.namespaces, self.no_new_privs, self.network, self.tenant,
                self.engine, self.platform, self.machine, self.traced, self.ids, self.host_name,
                self.root, self.root_path, self.root_file, self.root_layer, self.homes, self.binds,
                self.files, self.directories, self.workspace, self.disk, self.groups, self.limits,
                self.setup);
};

// user, mount, pid, ipc, uts, net and cgroup: CLONE_NEW… of the kernel, which this module does not
// include. The launcher asserts that they agree.
inline constexpr std::uint32_t kNamespaces =
    0x10000000U | 0x00020000U | 0x20000000U | 0x08000000U | 0x04000000U | 0x40000000U | 0x02000000U;

std::vector<std::byte> encode(const LaunchPlan& plan);

// A plan that came over a socket: well formed and nothing more. The floor makes a JudgedPlan of it.
class ReceivedPlan {
 public:
  const LaunchPlan& plan() const noexcept { return plan_; }

 private:
  friend Result<ReceivedPlan> decode_plan(std::span<const std::byte> bytes);
  explicit ReceivedPlan(LaunchPlan plan) : plan_{std::move(plan)} {}
  LaunchPlan plan_;
};

Result<ReceivedPlan> decode_plan(std::span<const std::byte> bytes);

}  // namespace cordon::frame
