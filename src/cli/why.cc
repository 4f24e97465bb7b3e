// SPDX-License-Identifier: Apache-2.0
// cordon why: what the last run was refused, by which rule, and what may be done about it.
#include <memory>
#include <optional>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/audit_verbs.h"
#include "cli/run_history.h"
#include "cli/run_words.h"
#include "cli/verbs.h"
#include "terminal/text_filter.h"
#include "wire/json_writer.h"
#include "wire/record_json.h"

namespace cordon::cli {
namespace {

struct WhyOptions {
  AuditOptions log;     // where it is, and whether JSON is wanted
  std::string sandbox;  // empty: the last one
};

void print_json(const RunHistory& found, std::ostream& out) {
  wire::JsonWriter json;
  json.begin_object();
  json.text("sandbox", found.sandbox);
  json.key("denials");
  json.begin_array();
  for (const Denial& denial : found.denials) wire::write(json, denial);
  json.end_array();
  json.end_object();
  out << json.take() << '\n';
}

void why(const WhyOptions& options, Context& context) {
  const auto found = read_history(options.log, context, options.sandbox);
  if (!found) return fail(context, found.error());
  if (options.log.json) return print_json(*found, context.out);
  if (found->denials.empty()) {
    context.out << fmt::format("nothing was refused to {}\n", found->sandbox);
  }
  for (const Denial& denial : found->denials) context.out << words_of(denial);
  const std::optional<Verdict>& verdict = found->verdict;
  if (verdict && verdict->ending != Ending::exit) {
    context.out << fmt::format("cordon: {}\n", terminal::printable(to_line(*verdict)));
  }
}

}  // namespace

void add_why(CLI::App& app, Context& context) {
  // Shared by the parser, which fills it, and the callback, which CLI11 may copy.
  const auto options = std::make_shared<WhyOptions>();
  CLI::App* const verb =
      app.add_subcommand("why", "Says what the last run was refused, and what may be done");
  verb->add_option("SANDBOX", options->sandbox, "the id of a sandbox; by default the last run");
  verb->add_option("--log", options->log.log,
                   "the directory of a log; by default the caller's own");
  verb->add_flag("--json", options->log.json, "Print one JSON object");
  verb->callback([options, &context] { why(*options, context); });
}

}  // namespace cordon::cli
