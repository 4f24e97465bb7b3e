// SPDX-License-Identifier: Apache-2.0
// Sends mutated plans to a real launcher. Whatever it starts must keep the floor: seen in /proc,
// not in what it says.
//
// hostile_node LAUNCHER COUNT [SEED]
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

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

void look_at_maps(Count& count, const std::string& proc) {
  for (const char* map : {"/uid_map", "/gid_map"}) {
    const auto text = os::read_file(os::at_cwd(), (proc + map).c_str());
    if (!text || text->empty()) continue;
    char* at = nullptr;
    static_cast<void>(std::strtoul(text->c_str(), &at, 10));  // inside
    const unsigned long outside = std::strtoul(at, &at, 10);
    const unsigned long length = std::strtoul(at, &at, 10);
    if (outside < launcher::kFirstId || length > launcher::kRange)
      violation(count, "maps host id " + std::to_string(outside));
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
  const bool ending = std::holds_alternative<frame::Destroy>(message);
  for (;;) {
    TRY(const os::Received got, os::receive(socket, buffer, 3));
    if (got.bytes == 0) return Error{Errc::unavailable, "the launcher has ended"};
    TRY(frame::FromLauncher answer,
        frame::decode_from_launcher(std::span{buffer}.first(got.bytes)));
    // One that ended by itself is told of whenever that happens.
    if (ending || !std::holds_alternative<frame::Ended>(answer)) return answer;
  }
}

Status attack(const os::Fd& socket, const frame::LaunchPlan& base, long rounds,
              std::mt19937& random, Count& count) {
  for (long round = 0; round < rounds; ++round) {
    const auto plan = launcher::mutated_plan(random, base);
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
      look_at_maps(count, proc);
      TRY(const frame::FromLauncher ended, ask(socket, frame::Destroy{launched->id}));
      if (!std::holds_alternative<frame::Ended>(ended)) violation(count, "it does not end");
    }
  }
  return {};
}

int run(const char* program, long rounds, unsigned seed) {
  std::array<char, 64> name{"/var/tmp/cordon-floor-XXXXXX"};
  if (::mkdtemp(name.data()) == nullptr) return 1;
  const std::string scratch = name.data();
  fs::create_directory(scratch + "/docs");
  fs::create_directory(scratch + "/w");
  std::mt19937 random{seed};
  Count count;
  Status status;
  // Ends by itself are told on the same socket: a fresh launcher now and then keeps them apart.
  for (long done = 0; done < rounds && status; done += 500) {
    auto pair = os::socketpair(os::SocketType::seqpacket);
    if (!pair) return 1;
    const std::array<const os::Fd*, 1> fds{&pair->two};
    auto child = os::spawn(program, {"cordon-launcher"}, {}, fds);
    pair->two = os::Fd{};
    if (!child) return 1;
    status = attack(pair->one, plan_beneath(scratch), std::min(500L, rounds - done), random, count);
  }
  fs::remove_all(scratch);
  std::printf(
      "floor: %ld plans, %ld malformed, %ld below the floor, %ld broken, %ld started, "
      "%ld violations\n",
      count.sent, count.malformed, count.below, count.broken, count.started, count.violations);
  if (!status) std::printf("stopped: %s\n", status.error().text().c_str());
  // A test in which nothing starts, or everything does, tells nothing.
  return status && count.violations == 0 && count.started > 0 && count.below > 0 ? 0 : 1;
}

}  // namespace
}  // namespace cordon

int main(int argc, char** argv) {
  if (::geteuid() != 0) {
    std::puts("not root: skipped");
    return 77;
  }
  if (argc < 3) return 2;
  const unsigned seed =
      argc > 3 ? static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)) : 20'261'115U;
  return cordon::run(argv[1], std::strtol(argv[2], nullptr, 10), seed);
}
