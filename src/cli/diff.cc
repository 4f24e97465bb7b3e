// SPDX-License-Identifier: Apache-2.0
// cordon diff: what a run changed in its workspace, before any of it lands there.
#include <algorithm>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/find_run.h"
#include "cli/review_report.h"
#include "cli/state_root.h"
#include "cli/verbs.h"
#include "review/patch.h"
#include "review/printable.h"
#include "review/scan.h"

namespace cordon::cli {
namespace {

struct DiffFlags {
  std::string run;    // empty: the newest of this workspace
  std::string patch;  // empty: the list
  bool json = false;
};

Result<review::RunDirectory> open_run(const std::string& root, const std::string& word) {
  auto id = word.empty() ? newest_run_here(root) : run_named(root, word);
  if (!id && !word.empty()) return std::move(id).error().with(review::printable(word));
  if (!id) return std::move(id).error();
  return review::RunDirectory::open(root, *id);
}

Result<std::string> one_patch(const std::string& word, const DiffReport& report,
                              const os::Fd& upper, const os::Fd& workspace) {
  TRY(const std::string path, path_in_workspace(word, report.run.workspace));
  const auto change = std::ranges::find(report.changes, path, &review::Change::path);
  if (change == report.changes.end()) {
    return Error{Errc::not_found, review::printable(path) + ": nothing changed there"};
  }
  return review::patch(*change, upper, workspace);
}

Result<std::string> diff(const DiffFlags& flags, Context& context) {
  TRY(const std::string root, state_root(context));
  TRY(const auto run, open_run(root, flags.run));
  TRY(const os::Fd upper, run.open_upper());
  TRY(const os::Fd workspace, run.open_workspace());
  DiffReport report{.run = run.record(), .running = run.is_held_by_another()};
  TRY(report.changes, review::scan(upper, workspace,
                                   {.marks = run.record().marks, .started = run.record().started}));
  if (report.running) {
    context.err << "cordon: run " << run.record().id.text()
                << " is still running: this is what it did up to now\n";
  }
  if (!flags.patch.empty()) return one_patch(flags.patch, report, upper, workspace);
  return flags.json ? diff_json(report) : diff_text(report);
}

}  // namespace

void add_diff(CLI::App& app, Context& context) {
  auto flags = std::make_shared<DiffFlags>();
  CLI::App* const verb =
      app.add_subcommand("diff", "Shows what a run changed and has not yet landed");
  verb->add_option("run", flags->run, "A run's id, or its beginning; default: the newest run here");
  verb->add_option("-p,--patch", flags->patch, "Print the changes of this file as a unified diff");
  verb->add_flag("--json", flags->json, "Print one JSON object");
  verb->callback([flags, &context] {
    const auto text = diff(*flags, context);
    if (!text) return fail(context, escaped(text.error()));
    context.out << *text;
  });
}

}  // namespace cordon::cli
