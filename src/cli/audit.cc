// SPDX-License-Identifier: Apache-2.0
// cordon audit: verify, tail, query, export, prove, seal and drop. All of them work offline.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/audit_verbs.h"
#include "cli/verbs.h"

namespace cordon::cli {
namespace {

void add_log(CLI::App& verb, AuditOptions& options) {
  verb.add_option("--log", options.log, "the directory of a log; by default the caller's own");
  verb.add_flag("--json", options.json, "print JSON");
}

void add_trust(CLI::App& verb, AuditOptions& options) {
  const auto each = [&](const char* name, std::vector<std::string>& values, const char* meaning) {
    verb.add_option(name, values, meaning)->expected(1)->take_all()->allow_extra_args(false);
  };
  each("--anchor", options.anchors,
       "signed heads that were kept elsewhere: a file, or a directory with `heads`; may be "
       "repeated");
  each("--key", options.keys,
       "a public key that is trusted: 64 digits of hex, or a file with them; may be repeated");
}

void add_terms(CLI::App& verb, AuditOptions& options) {
  verb.add_option("TERM", options.terms,
                  "what must hold: event=act_refused, host=*.example.net, time>=2026-11-17, …");
}

void add_range(CLI::App& verb, AuditOptions& options) {
  verb.add_option("--from", options.from, "the number of the first record");
  verb.add_option("--to", options.to, "the number of the last one");
}

}  // namespace

void add_audit(CLI::App& app, Context& context) {
  CLI::App* const group =
      app.add_subcommand("audit", "what happened: verify, read and prove the record of it");
  group->require_subcommand(1);
  // Lives as long as the command line: its callbacks refer to it.
  const auto options = std::make_shared<AuditOptions>();
  const auto add = [&](const char* name, const char* meaning,
                       void (*act)(const AuditOptions&, Context&)) {
    CLI::App* const verb = group->add_subcommand(name, meaning);
    add_log(*verb, *options);
    verb->callback([options, act, &context] { act(*options, context); });
    return verb;
  };

  CLI::App* const verify = add("verify", "say whether the log is as it was written", audit_verify);
  add_trust(*verify, *options);
  verify->add_option("--proof", options->proof, "check a proof instead, which needs no log");

  CLI::App* const tail = add("tail", "print the last records", audit_tail);
  add_terms(*tail, *options);
  tail->add_option("-n", options->last, "how many")->capture_default_str();
  tail->add_flag("-f,--follow", options->follow, "go on with those that are written");

  CLI::App* const query = add("query", "print the records that fulfil all terms", audit_query);
  add_terms(*query, *options);
  add_range(*query, *options);
  query->add_flag("--count", options->count, "print how many there are");

  CLI::App* const exported =
      add("export", "print records as they are: one line of JSON each", audit_export);
  add_terms(*exported, *options);
  add_range(*exported, *options);

  CLI::App* const prove =
      add("prove", "print a proof that a record is in the signed log", audit_prove);
  prove->add_option("RECORD", options->record, "its number");
  prove->add_option("--since", options->since,
                    "prove instead that the log continues the one of so many records");
  add_trust(*prove, *options);

  CLI::App* const seal = add("seal", "have all records signed now", audit_seal);
  seal->add_option("--anchor", options->anchors, "a directory that gets the signed head too")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);

  CLI::App* const drop =
      add("drop", "let old records go; their hashes stay, so that the rest can be verified",
          audit_drop);
  drop->add_option("--older-than", options->older_than, "like 90d")->required();
}

}  // namespace cordon::cli
