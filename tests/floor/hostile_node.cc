// SPDX-License-Identifier: Apache-2.0
// Sends mutated plans to a real launcher. Whatever it starts must keep the floor: seen in /proc,
// not in what it says.
//
// hostile_node LAUNCHER COUNT [SEED]            a launcher of its own, over a socket pair
// hostile_node --service LAUNCHER COUNT [SEED]  a service with a narrow floor file
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "frame/launcher.h"
#include "launcher/plan_mutation_test.h"
#include "os/file.h"
#include "os/namespace.h"
#include "os/socket.h"
#include "os/spawn.h"

namespace cordon {
namespace {

namespace fs = std::filesystem;

struct Count {
  long sent = 0, malformed = 0, below = 0, broken = 0, started = 0, violations = 0;
  long shown = 0;  // mounts of the host that a sandbox had
};

// What the launcher was told to keep.
struct Law {
  std::uint32_t first_id = launcher::kFirstId;
  std::vector<std::string> sources;  // empty: anywhere
};

void violation(Count& count, const std::string& what) {
  ++count.violations;
  std::printf("VIOLATION: %s\n", what.c_str());
}

std::string line_of(const std::string& text, const std::string& key) {
  const std::size_t at = text.find("\n" + key);
  if (at == std::string::npos) return {};
  const std::size_t begin = text.find_first_not_of("\t ", at + 1 + key.size());
  return text.substr(begin, text.find('\n', begin) - begin);
}

void look_at_status(Count& count, const std::string& proc) {
  const auto status = os::read_file(os::at_cwd(), (proc + "/status").c_str());
  if (!status) return;  // it has ended: a plan may ask for what cordon-init then refuses
  if (line_of(*status, "NoNewPrivs:") != "1") violation(count, "no_new_privs is not set");
  if (line_of(*status, "Seccomp:") != "2") violation(count, "no filter is loaded");
  const unsigned long held = std::strtoul(line_of(*status, "CapPrm:").c_str(), nullptr, 16);
  // chown dac_override fowner fsetid kill setgid setuid net_bind_service
  constexpr unsigned long kMay = 0x4fbUL & ~0x0UL;
  if ((held & ~kMay) != 0) violation(count, "capabilities " + line_of(*status, "CapPrm:"));
  const std::string uid = line_of(*status, "Uid:");
  if (std::strtoul(uid.c_str(), nullptr, 10) < 65'536) violation(count, "runs as host id " + uid);
}

void look_at_namespaces(Count& count, pid_t pid) {
  for (const os::Ns kind : {os::Ns::user, os::Ns::mount, os::Ns::pid, os::Ns::net, os::Ns::ipc,
                            os::Ns::uts, os::Ns::cgroup}) {
    const auto theirs = os::open_ns(kind, pid);
    const auto ours = os::open_ns(kind);
    if (!theirs || !ours) continue;
    const auto a = os::ns_id(*theirs);
    const auto b = os::ns_id(*ours);
    if (a && b && *a == *b) violation(count, "shares " + std::string{to_string(kind)});
  }
}

void look_at_maps(Count& count, const std::string& proc, const Law& law) {
  for (const char* map : {"/uid_map", "/gid_map"}) {
    const auto text = os::read_file(os::at_cwd(), (proc + map).c_str());
    if (!text || text->empty()) continue;
    char* at = nullptr;
    static_cast<void>(std::strtoul(text->c_str(), &at, 10));  // inside
    const unsigned long outside = std::strtoul(at, &at, 10);
    const unsigned long length = std::strtoul(at, &at, 10);
    if (outside < law.first_id || length > launcher::kRange)
      violation(count, "maps host id " + std::to_string(outside));
  }
}

struct Mount {
  std::string device;
  std::string root;  // within its file system
  std::string point;
};

std::vector<Mount> mounts_of(const std::string& proc) {
  std::vector<Mount> mounts;
  std::ifstream lines{proc + "/mountinfo"};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields{line};
    std::string number;
    std::string parent;
    Mount mount;
    fields >> number >> parent >> mount.device >> mount.root >> mount.point;
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

bool is_below(const std::string& path, const std::string& tree) {
  return tree == "/" || path == tree || path.starts_with(tree + "/");
}

// Where on the host this lies, by a mount of the same file system that holds it; empty: nowhere, it
// is the sandbox's own.
std::vector<std::string> host_paths(const Mount& mount, const std::vector<Mount>& host) {
  std::vector<std::string> paths;
  for (const Mount& each : host) {
    if (each.device != mount.device || !is_below(mount.root, each.root)) continue;
    std::string rest = mount.root.substr(each.root == "/" ? 0 : each.root.size());
    if (rest == "/") rest.clear();
    paths.push_back((each.point == "/" ? "" : each.point) + rest);
  }
  return paths;
}

void look_at_mounts(Count& count, const std::string& proc, const Law& law) {
  if (law.sources.empty()) return;
  const std::vector<Mount> host = mounts_of("/proc/self");
  for (const Mount& mount : mounts_of(proc)) {
    // Single devices, which every sandbox has.
    if (mount.point.starts_with("/dev/")) continue;
    const auto paths = host_paths(mount, host);
    if (paths.empty()) continue;
    ++count.shown;
    const bool inside = std::ranges::any_of(paths, [&](const std::string& path) {
      return std::ranges::any_of(law.sources,
                                 [&](const std::string& tree) { return is_below(path, tree); });
    });
    if (!inside) violation(count, mount.point + " shows " + paths.front());
  }
}

frame::LaunchPlan plan_beneath(const std::string& scratch) {
  frame::LaunchPlan plan = launcher::good_plan();
  plan.binds = {{.source = scratch + "/docs", .target = "/docs"}};
  plan.workspace.source = scratch + "/w";
  plan.workspace.pins.clear();
  return plan;
}

Result<frame::FromLauncher> ask(const os::Fd& socket, const frame::ToLauncher& message) {
  const auto bytes = frame::encode(message);
  TRY(const std::size_t sent, os::send(socket, bytes));
  if (sent != bytes.size()) return Error{Errc::internal, "short message"};
  std::vector<std::byte> buffer(frame::kLongestLauncherMessage);
  TRY(const os::Received got, os::receive(socket, buffer, 4));
  if (got.bytes == 0) return Error{Errc::unavailable, "the launcher has ended"};
  return frame::decode_from_launcher(std::span{buffer}.first(got.bytes));
}

// Sources near the floor's own: the links in them lead out.
void add_near_source(frame::LaunchPlan& plan, const std::string& scratch, std::mt19937& random) {
  static const std::array<std::string, 10> kNear = {
      "/docs",  "/docs/out", "/docs/out/hostname", "/docs/up/etc", "/docs/in",
      "/docsx", "/secret",   "/docs/../secret",    "/w/out",       ""};
  const std::string source = scratch + kNear[random() % kNear.size()];
  switch (random() % 4) {
    case 0:
      plan.workspace.source = source;
      break;
    case 1:
      plan.root = frame::RootSource::directory;
      plan.root_path = source;
      break;
    default:
      plan.binds.push_back({source, "/near", random() % 2 == 0, random() % 2 == 0});
      break;
  }
}

Status attack(const os::Fd& socket, const std::string& scratch, const Law& law, long rounds,
              std::mt19937& random, Count& count) {
  for (long round = 0; round < rounds; ++round) {
    frame::LaunchPlan base = plan_beneath(scratch);
    const bool near = !law.sources.empty() && random() % 2 == 0;
    if (near) add_near_source(base, scratch, random);
    const auto plan =
        near && random() % 2 == 0 ? frame::encode(base) : launcher::mutated_plan(random, base);
    TRY(const frame::FromLauncher answer,
        ask(socket, frame::Launch{{reinterpret_cast<const char*>(plan.data()), plan.size()}}));
    ++count.sent;
    if (const auto* refused = std::get_if<frame::Refused>(&answer)) {
      ++(refused->code == "malformed" ? count.malformed : count.below);
    } else if (std::holds_alternative<frame::Broken>(answer)) {
      ++count.broken;
    } else if (const auto* launched = std::get_if<frame::Launched>(&answer)) {
      ++count.started;
      const std::string proc = "/proc/" + std::to_string(launched->pid);
      look_at_status(count, proc);
      look_at_namespaces(count, static_cast<pid_t>(launched->pid));
      look_at_maps(count, proc, law);
      look_at_mounts(count, proc, law);
      TRY(const frame::FromLauncher ended, ask(socket, frame::Destroy{launched->id}));
      if (!std::holds_alternative<frame::Ended>(ended)) violation(count, "it does not end");
    }
  }
  return {};
}

struct Scratch {
  Scratch() {
    std::array<char, 64> name{"/var/tmp/cordon-floor-XXXXXX"};
    if (::mkdtemp(name.data()) == nullptr) return;
    path = name.data();
    for (const char* directory : {"/docs", "/docs/in", "/docsx", "/secret", "/w", "/run"}) {
      fs::create_directory(path + directory);
    }
    fs::create_directory_symlink("/etc", path + "/docs/out");
    fs::create_directory_symlink("../..", path + "/docs/up");
    fs::create_directory_symlink(path + "/secret", path + "/w/out");
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!path.empty()) fs::remove_all(path, ignored);
  }
  std::string path;
};

Status attack_own(const char* program, const Scratch& scratch, long rounds, std::mt19937& random,
                  Count& count) {
  TRY(os::SocketPair pair, os::socketpair(os::SocketType::seqpacket));
  const std::array<const os::Fd*, 1> fds{&pair.two};
  TRY(const os::Child child, os::spawn(program, {"cordon-launcher"}, {}, fds));
  pair.two = os::Fd{};
  return attack(pair.one, scratch.path, {}, rounds, random, count);
}

Result<os::Fd> knock(const std::string& path) {
  TRY(const os::UnixAddress address, os::UnixAddress::at_path(path));
  for (int tried = 0;; ++tried) {
    auto socket = os::unix_connect(address, os::SocketType::seqpacket);
    if (socket || tried == 1000) return socket;
    ::usleep(5000);
  }
}

Status attack_service(const char* program, const Scratch& scratch, long rounds,
                      std::mt19937& random, Count& count) {
  const Law law{.first_id = 0x60000000U, .sources = {scratch.path + "/docs", scratch.path + "/w"}};
  std::ofstream{scratch.path + "/floor"}
      << "node_uid = 0\nfirst_id = " << law.first_id << "\nranges = 16\n"
      << "source = " << law.sources[0] << "\nsource = " << law.sources[1]
      << "\nwritable_binds = true\n";
  const std::string path = scratch.path + "/run/launcher";
  TRY(os::Child child,
      os::spawn(program, {"cordon-launcher", "--socket", path, "--floor", scratch.path + "/floor"},
                {}, {}));
  TRY(const os::Fd socket, knock(path));
  std::vector<std::byte> welcome(frame::kLongestLauncherMessage);
  TRY_DO(os::receive(socket, welcome));
  TRY_DO(attack(socket, scratch.path, law, rounds, random, count));
  if (count.shown == 0) return Error{Errc::internal, "no sandbox showed anything of the host"};
  TRY_DO(child.signal(SIGTERM));
  TRY(const os::ExitStatus ended, std::move(child).wait());
  return ended.success() ? Status{} : Error{Errc::internal, "the service did not end in order"};
}

int run(bool service, const char* program, long rounds, unsigned seed) {
  const Scratch scratch;
  if (scratch.path.empty()) return 1;
  std::mt19937 random{seed};
  Count count;
  const auto attack_one = service ? attack_service : attack_own;
  const Status status = attack_one(program, scratch, rounds, random, count);
  std::printf(
      "floor: %ld plans, %ld malformed, %ld below the floor, %ld broken, %ld started, "
      "%ld violations\n",
      count.sent, count.malformed, count.below, count.broken, count.started, count.violations);
  if (!status) std::printf("stopped: %s\n", status.error().text().c_str());
  // A test in which nothing starts, or everything does, tells nothing.
  return status && count.violations == 0 && count.started > 0 && count.below > 0 ? 0 : 1;
}

// Where a mutated plan may put the layers of a review: directories of the host that root's own
// floor allows. What was not there before goes again; only empty directories, so that nothing of
// anybody else's can go.
class Layers {
 public:
  Layers() {
    for (const char* top : {"/srv", "/srv/w", "/root", "/tmp", "/"}) {
      for (const char* name : {"/work/work", "/work", "/upper"}) {
        std::string path = std::string{top} + name;
        if (::access(path.c_str(), F_OK) != 0) absent_.push_back(std::move(path));
      }
    }
  }
  Layers(const Layers&) = delete;
  Layers& operator=(const Layers&) = delete;
  ~Layers() {
    for (const std::string& path : absent_) ::rmdir(path.c_str());
  }

 private:
  std::vector<std::string> absent_;
};

}  // namespace
}  // namespace cordon

int main(int argc, char** argv) {
  if (::geteuid() != 0) {
    std::puts("not root: skipped");
    return 77;
  }
  const bool service = argc > 1 && argv[1] == std::string_view{"--service"};
  char** const arguments = argv + (service ? 1 : 0);
  const int count = argc - (service ? 1 : 0);
  if (count < 3) return 2;
  const unsigned seed =
      count > 3 ? static_cast<unsigned>(std::strtoul(arguments[3], nullptr, 10)) : 20'261'115U;
  const cordon::Layers layers;
  return cordon::run(service, arguments[1], std::strtol(arguments[2], nullptr, 10), seed);
}
