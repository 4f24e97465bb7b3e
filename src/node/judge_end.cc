// SPDX-License-Identifier: Apache-2.0
#include "node/judge_end.h"

#include <cerrno>
#include <csignal>

#include <fmt/format.h>

namespace cordon::node {
namespace {

bool has_no_inode_left(const frame::DiskUse& disk) {
  return disk.most_inodes > 0 && disk.inodes >= disk.most_inodes;
}

// Less than a write may ask for is left, or no inode: nothing more could be written.
bool is_full(const frame::DiskUse& disk, std::uint64_t step) {
  return (disk.most_bytes > 0 && disk.bytes + step > disk.most_bytes) || has_no_inode_left(disk);
}

// As a shell counts: a limit says why it ended, and this how.
constexpr int kBySignal = 128;

int code_of(const frame::Exited& exited) {
  const auto value = static_cast<int>(exited.value);
  return exited.by_signal ? kBySignal + value : value;
}

std::string main_process(const EndFacts& facts) {
  return facts.pid == 0 ? std::string{} : fmt::format("{} pid {}", facts.program, facts.pid);
}

Verdict memory_verdict(const EndFacts& facts, std::string culprit, std::string explanation) {
  // A machine's kernel ends nobody before all of its memory is taken; what the group counts beside
  // that is of who runs it.
  const bool by_machine = facts.machine_is_full || (facts.exited && facts.exited->oom_kills > 0);
  return {.ending = Ending::memory,
          .status = kBySignal + SIGKILL,
          .limit = by_machine ? facts.machine_memory : facts.memory_limit.value_or(0),
          .peak = by_machine ? facts.machine_memory : facts.use.memory_peak.value_or(0),
          .culprit = std::move(culprit),
          .explanation = std::move(explanation)};
}

Verdict disk_verdict(const EndFacts& facts, const frame::Exited& exited) {
  const frame::DiskUse& disk = exited.disk;
  const bool inodes = has_no_inode_left(disk);
  return {.ending = inodes ? Ending::inodes : Ending::disk,
          .status = code_of(exited),
          .limit = inodes ? disk.most_inodes : disk.most_bytes,
          .peak = inodes ? disk.inodes : disk.bytes,
          .culprit = main_process(facts),
          .explanation = inodes ? "no more files fit on the sandbox's own disk"
                                : "the sandbox's own disk is full"};
}

Verdict pids_verdict(const EndFacts& facts, const frame::Exited& exited) {
  return {.ending = Ending::pids,
          .status = code_of(exited),
          .limit = facts.pids_limit.value_or(0),
          .peak = facts.use.pids_peak.value_or(facts.pids_limit.value_or(0)),
          .culprit = main_process(facts),
          .explanation = fmt::format("{} processes or threads were refused",
                                     facts.use.pids_refused.value_or(0))};
}

std::string about_children(const EndFacts& facts) {
  const std::uint64_t kills = facts.use.oom_kills.value_or(0);
  if (kills == 0) return {};
  return fmt::format("{} of its processes {} ended by the memory limit", kills,
                     kills == 1 ? "was" : "were");
}

Verdict of_exit(const EndFacts& facts, const frame::Exited& exited) {
  const bool failed = exited.by_signal || exited.value != 0;
  if (exited.by_signal && exited.value == SIGKILL && facts.use.oom_kills.value_or(0) > 0) {
    return memory_verdict(facts, main_process(facts), "the memory limit was reached");
  }
  if (failed && is_full(exited.disk, facts.disk_step)) return disk_verdict(facts, exited);
  if (failed && facts.use.pids_refused.value_or(0) > 0) return pids_verdict(facts, exited);
  return {.ending = exited.by_signal ? Ending::signal : Ending::exit,
          .status = static_cast<int>(exited.value),
          .explanation = about_children(facts)};
}

}  // namespace

bool is_full_machine(const frame::LaunchPlan& plan, const Error& why) {
  return plan.machine.memory > 0 && why.cause().value() == ENOMEM;
}

Verdict judge_end(const EndFacts& facts) {
  if (facts.stopped) {
    const Stop& stop = *facts.stopped;
    return {.ending = stop.ending,
            .status = facts.exited ? code_of(*facts.exited) : kBySignal + SIGKILL,
            .limit = stop.limit,
            .peak = stop.peak,
            .culprit = stop.culprit.empty() ? main_process(facts) : stop.culprit};
  }
  if (facts.exited) return of_exit(facts, *facts.exited);
  // Pid 1 itself is gone: the whole sandbox ended with it.
  if (facts.machine_is_full || facts.use.oom_kills.value_or(0) > 0) {
    return memory_verdict(facts, facts.largest,
                          "the sandbox's pid 1 was ended by the memory limit");
  }
  return {.ending = Ending::infrastructure, .explanation = facts.failure};
}

}  // namespace cordon::node
