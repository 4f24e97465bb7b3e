// SPDX-License-Identifier: Apache-2.0
// cordon discard: throws away what a run changed.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/find_run.h"
#include "cli/state_root.h"
#include "cli/verbs.h"
#include "review/printable.h"
#include "review/run_directory.h"

namespace cordon::cli {
namespace {

struct DiscardFlags {
  std::string run;
  bool json = false;
};

Result<RunId> discard(const std::string& word, const Context& context) {
  TRY(const std::string root, state_root(context));
  auto id = run_named(root, word);
  if (!id) return std::move(id).error().with(review::printable(word));
  TRY(auto run, review::RunDirectory::open(root, *id));
  TRY_DO(std::move(run).remove());
  return id;
}

}  // namespace

void add_discard(CLI::App& app, Context& context) {
  auto flags = std::make_shared<DiscardFlags>();
  CLI::App* const verb =
      app.add_subcommand("discard", "Throws away what a run changed and has not yet landed");
  verb->add_option("run", flags->run, "The run's id, or its beginning")->required();
  verb->add_flag("--json", flags->json, "Print one JSON object");
  verb->callback([flags, &context] {
    const auto id = discard(flags->run, context);
    if (!id) return fail(context, escaped(id.error()));
    if (flags->json) {
      context.out << R"({"discarded":")" << id->text() << "\"}\n";
    } else {
      context.out << "discarded run " << id->text() << '\n';
    }
  });
}

}  // namespace cordon::cli
