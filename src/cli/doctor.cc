// SPDX-License-Identifier: Apache-2.0
// cordon doctor: what this machine can enforce.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/doctor_report.h"
#include "cli/verbs.h"
#include "os/probe_host.h"

namespace cordon::cli {
namespace {

struct DoctorFlags {
  bool json = false;
  std::string require;  // empty: any level at which something can be launched
};

DoctorReport examine() {
  const auto begin = std::chrono::steady_clock::now();
  DoctorReport report{.host = os::probe_host({})};
  report.reached = level_of(report.host);
  report.probe_time =
      std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  return report;
}

void doctor(const DoctorFlags& flags, Context& context) {
  const DoctorReport report = examine();
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
