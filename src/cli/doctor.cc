// SPDX-License-Identifier: Apache-2.0
// cordon doctor: what this machine can enforce.
#include <chrono>
#include <fcntl.h>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/doctor_report.h"
#include "cli/engine_facts.h"
#include "cli/machine.h"
#include "cli/program_beside.h"
#include "cli/verbs.h"
#include "os/file.h"
#include "os/probe_host.h"
#include "os/spawn.h"

namespace cordon::cli {
namespace {

struct DoctorFlags {
  bool json = false;
  std::string require;  // empty: any level at which something can be launched
};

constexpr std::size_t kLongestReason = 4096;

// What it says against it; empty: it was loaded, and is gone again.
Result<std::string> try_monitor() {
  TRY(os::Pipe out, os::pipe2(O_CLOEXEC));
  TRY(os::Child child, os::spawn(program_beside("cordon-bpf"), {"cordon-bpf", "--check"}, {}, {},
                                 {.out = &out.write}));
  out.write = os::Fd{};
  TRY(std::string said, os::read_all(out.read, kLongestReason));
  TRY(const os::ExitStatus ended, std::move(child).wait());
  if (ended.success()) return std::string{};
  while (said.ends_with('\n')) said.pop_back();
  return said.empty() ? std::string{"cordon-bpf ended without a word"} : said;
}

// By loading what a node's launcher would load.
Fact probe_monitor(const HostFacts& host) {
  if (!host.root) return {Support::blocked, "only root may load the monitor of a node", {}};
  const auto said = try_monitor();
  if (!said) return {Support::not_probed, said.error().text(), {}};
  if (said->empty()) return {Support::ok, {}, {}};
  return {Support::blocked, *said, {}};
}

DoctorReport examine(const Context& context) {
  const auto begin = std::chrono::steady_clock::now();
  DoctorReport report{.host = os::probe_host({})};
  report.host[Feature::ebpf] = probe_monitor(report.host);
  try_gvisor(report.host);
  static_cast<void>(build_machine_once(context));
  try_machine(report.host);
  report.reached = level_of(report.host);
  report.probe_time =
      std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  return report;
}

void doctor(const DoctorFlags& flags, Context& context) {
  const DoctorReport report = examine(context);
  context.out << (flags.json ? doctor_json(report) : doctor_text(report));
  const Level required = flags.require == "full" ? Level::full : Level::supervised;
  if (report.reached.level >= required) return;
  context.exit = Exit::no;
  if (!flags.require.empty()) {
    context.err << "cordon: level " << to_string(report.reached.level) << " is below the required "
                << flags.require << '\n';
  }
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  // Shared by the parser, which fills it, and the callback, which CLI11 may copy.
  auto flags = std::make_shared<DoctorFlags>();
  CLI::App* const verb = app.add_subcommand("doctor", "Probes what this machine can enforce");
  verb->add_flag("--json", flags->json, "Print one JSON object");
  verb->add_option("--require", flags->require, "Fail below this level")
      ->check(CLI::IsMember({"full", "supervised"}));
  verb->callback([flags, &context] { doctor(*flags, context); });
}

}  // namespace cordon::cli
