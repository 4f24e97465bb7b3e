// SPDX-License-Identifier: Apache-2.0
// cordon why: what the last run was refused, by which rule, and what may be done about it.
#include <functional>
#include <memory>
#include <optional>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "audit/log_reader.h"
#include "audit/record.h"
#include "cli/audit_verbs.h"
#include "cli/run_words.h"
#include "cli/verbs.h"
#include "node/denial_book.h"
#include "terminal/text_filter.h"
#include "wire/json_writer.h"
#include "wire/record_json.h"

namespace cordon::cli {
namespace {

struct WhyOptions {
  AuditOptions log;     // where it is, and whether JSON is wanted
  std::string sandbox;  // empty: the last one
};

// Each record that is about a sandbox.
Status each_of_a_sandbox(const WhyOptions& options, const Context& context,
                         const std::function<void(const audit::Record&)>& take) {
  TRY(os::Fd directory, open_log(options.log, context));
  TRY(audit::LogReader reader, audit::LogReader::open(std::move(directory)));
  return each_record(reader, [&take](std::string_view, const audit::Record* record) {
    if (record != nullptr && !record->subject.sandbox.empty()) take(*record);
    return true;
  });
}

// Of several that live at once the one that began, or was refused something, last.
// `not_found`: there was none.
Result<std::string> wanted_sandbox(const WhyOptions& options, const Context& context) {
  std::string found;
  TRY_DO(each_of_a_sandbox(options, context, [&](const audit::Record& record) {
    const bool begins = std::holds_alternative<PolicyAccepted>(record.event) ||
                        std::holds_alternative<ActRefused>(record.event);
    const std::string& id = record.subject.sandbox;
    if (begins && (options.sandbox.empty() || options.sandbox == id)) found = id;
  }));
  if (!found.empty()) return found;
  return Error{Errc::not_found, options.sandbox.empty() ? "the log tells of no run yet"
                                                        : "the log tells of no sandbox of that id"};
}

struct Refusals {
  std::string sandbox;
  std::vector<Denial> denials;
  std::optional<Verdict> verdict;
};

Result<Refusals> refusals_of(const WhyOptions& options, const Context& context) {
  TRY(std::string id, wanted_sandbox(options, context));
  Refusals found{.sandbox = std::move(id), .denials = {}, .verdict = {}};
  node::DenialBook denials;
  TRY_DO(each_of_a_sandbox(options, context, [&](const audit::Record& record) {
    if (record.subject.sandbox != found.sandbox) return;
    if (const auto* refused = std::get_if<ActRefused>(&record.event)) denials.add(refused->denial);
    if (const auto* ended = std::get_if<SandboxEnded>(&record.event))
      found.verdict = ended->verdict;
  }));
  found.denials = denials.take();
  return found;
}

void print_json(const Refusals& found, std::ostream& out) {
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
  const auto found = refusals_of(options, context);
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
