// SPDX-License-Identifier: Apache-2.0
// cordon audit verify: whether a log says what its writers wrote.
#include <ostream>

#include <fmt/format.h>

#include "audit/verify.h"
#include "base/bytes.h"
#include "cli/audit_heads.h"
#include "cli/audit_verbs.h"
#include "wire/json_writer.h"

namespace cordon::cli {
namespace {

struct Told {
  audit::Verified verified;
  KnownHeads known;
};

Result<Told> look(const AuditOptions& options, const Context& context) {
  TRY(const os::Fd directory, open_log(options, context));
  TRY(KnownHeads known, known_heads(options, directory, context));
  TRY(audit::Verified verified, audit::verify(directory, known.heads, [&](const audit::Head& head) {
        return known.is_trusted(head);
      }));
  return Told{std::move(verified), std::move(known)};
}

// Signed is what another log had: its heads are in an anchor, and it is not here.
std::size_t heads_of_others(const Told& told) {
  std::size_t count = 0;
  for (const audit::Head& head : told.known.heads) {
    if (head.log != told.verified.log) ++count;
  }
  return count;
}

void print_json(const Told& told, std::ostream& out) {
  const audit::Verified& verified = told.verified;
  wire::JsonWriter json;
  json.begin_object();
  json.boolean("ok", !verified.finding);
  json.text("log", verified.log);
  json.number("records", verified.records);
  json.number("sealed", verified.sealed);
  json.number("heads", verified.heads);
  json.number("dropped", verified.dropped);
  json.number("unknown", verified.unknown);
  json.number("unfinished_bytes", verified.unfinished);
  json.text("root", to_hex(verified.root));
  json.number("heads_of_other_logs", heads_of_others(told));
  json.boolean("key_from_log", told.known.trusts_itself);
  json.key("keys");
  json.begin_array();
  for (const audit::PublicKey& key : told.known.keys) json.text(to_hex(key));
  json.end_array();
  if (verified.finding) {
    json.key("finding");
    json.begin_object();
    json.number("record", verified.finding->record);
    json.text("what", verified.finding->what);
    json.end_object();
  }
  json.end_object();
  out << json.take() << '\n';
}

std::string words_of_heads(const Told& told) {
  const audit::Verified& verified = told.verified;
  if (verified.heads == 0) {
    return "signed    nothing: only the chain holds them; `cordon audit seal` has them signed\n";
  }
  std::string words =
      fmt::format("signed    the first {}, by {} heads\n", verified.sealed, verified.heads);
  for (const audit::PublicKey& key : told.known.keys) {
    words += fmt::format("key       {}{}\n", to_hex(key),
                         told.known.trusts_itself ? ", which the log itself names" : "");
  }
  if (told.known.trusts_itself) {
    words +=
        "          whoever can write there could have signed all anew: name the key that you know "
        "with --key, or heads from elsewhere with --anchor\n";
  }
  return words;
}

void print_text(const Told& told, std::ostream& out) {
  const audit::Verified& verified = told.verified;
  if (verified.finding) {
    out << fmt::format("NOT AS IT WAS WRITTEN, from record {} on: {}\n", verified.finding->record,
                       verified.finding->what);
  } else {
    out << fmt::format("ok        {} records, as they were written\n", verified.records);
  }
  out << words_of_heads(told);
  out << fmt::format("root      {}\n", to_hex(verified.root));
  if (verified.dropped > 0) {
    out << fmt::format("dropped   the first {}: only their hashes are kept\n", verified.dropped);
  }
  if (verified.unknown > 0) {
    out << fmt::format("unknown   {} of them tell of what a newer version knows\n",
                       verified.unknown);
  }
  if (verified.unfinished > 0) {
    out << fmt::format("unfinished {} bytes behind the last: one is being written, or was not\n",
                       verified.unfinished);
  }
  if (const std::size_t others = heads_of_others(told); others > 0) {
    out << fmt::format("elsewhere {} heads are of other logs than this one, {}\n", others,
                       verified.log);
  }
}

}  // namespace

void audit_verify(const AuditOptions& options, Context& context) {
  if (!options.proof.empty()) return audit_check_proof(options, context);
  const auto told = look(options, context);
  if (!told) return fail(context, told.error());
  if (options.json) {
    print_json(*told, context.out);
  } else {
    print_text(*told, context.out);
  }
  if (told->verified.finding) context.exit = Exit::no;
}

}  // namespace cordon::cli
