// SPDX-License-Identifier: Apache-2.0
// cordon apply: lands what was reviewed.
#include "review/apply.h"

#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/find_run.h"
#include "cli/review_report.h"
#include "cli/state_root.h"
#include "cli/verbs.h"
#include "review/printable.h"

namespace cordon::cli {
namespace {

struct ApplyFlags {
  std::vector<std::string> words;  // a run first, if it names one; then paths
  bool all = false;
  bool force = false;
  bool json = false;
};

// Takes the run's id off the words if the first is one. A path of that name is written ./NAME.
Result<RunId> take_run(const std::string& root, std::vector<std::string>& words) {
  if (words.empty()) return newest_run_here(root);
  auto named = run_named(root, words.front());
  if (!named && named.error().code() == Errc::not_found) return newest_run_here(root);
  if (named) words.erase(words.begin());
  return named;
}

Result<review::Selection> selection_of(const ApplyFlags& flags,
                                       const std::vector<std::string>& words,
                                       const std::string& workspace) {
  review::Selection selection{.all = flags.all};
  for (const std::string& word : words) {
    TRY(std::string path, path_in_workspace(word, workspace));
    if (path == ".") selection.all = true;
    selection.paths.push_back(std::move(path));
  }
  return selection;
}

Status apply(const ApplyFlags& flags, Context& context) {
  TRY(const std::string root, state_root(context));
  std::vector<std::string> words = flags.words;
  TRY(const RunId id, take_run(root, words));
  if (flags.all != words.empty()) {
    context.err << "cordon: name what to apply: --all or paths, not both; see cordon diff\n";
    context.exit = Exit::usage;
    return {};
  }
  TRY(auto run, review::RunDirectory::open(root, id));
  const review::RunRecord record = run.record();
  TRY(const auto selection, selection_of(flags, words, record.workspace));
  TRY(const auto report,
      review::apply(std::move(run), {.selection = selection, .force = flags.force}));
  context.out << (flags.json ? apply_json(record, report) : apply_text(record, report));
  for (const auto& one : report.left) {
    context.err << "cordon: not applied: " << review::printable(one.path) << ": "
                << review::printable(one.reason, review::Spelling::line)
                << (one.conflict ? "; --force takes the run's" : "") << '\n';
  }
  if (!report.left.empty()) context.exit = Exit::no;
  return {};
}

}  // namespace

void add_apply(CLI::App& app, Context& context) {
  auto flags = std::make_shared<ApplyFlags>();
  CLI::App* const verb = app.add_subcommand("apply", "Lands changes of a run in its workspace");
  verb->add_option("what", flags->words,
                   "A run's id (default: the newest run here), then files or directories");
  verb->add_flag("--all", flags->all, "Apply every change");
  verb->add_flag("--force", flags->force,
                 "Also over files that changed in the workspace after the run began");
  verb->add_flag("--json", flags->json, "Print one JSON object");
  verb->callback([flags, &context] {
    if (const Status done = apply(*flags, context); !done) fail(context, escaped(done.error()));
  });
}

}  // namespace cordon::cli
