// SPDX-License-Identifier: Apache-2.0
// cordon audit prove, and verify --proof: that a record is in a signed log, or that a signed log
// continues another, to somebody who has neither.
#include <algorithm>
#include <ostream>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "audit/added_range.h"
#include "audit/leaves.h"
#include "audit/log_reader.h"
#include "audit/segment.h"
#include "audit/tree_proof.h"
#include "base/bytes.h"
#include "cli/audit_heads.h"
#include "cli/audit_verbs.h"
#include "cli/text_file.h"
#include "cli/token_verbs.h"
#include "review/printable.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

constexpr std::int64_t kProofVersion = 1;
constexpr std::size_t kMostSteps = 128;

// All leaves of the log, up to `size`.
Status each_leaf(const os::Fd& directory, std::uint64_t size,
                 const std::function<void(const Digest&, std::string_view line)>& take) {
  std::uint64_t count = 0;
  TRY_DO(audit::read_all_leaves(directory, [&](const Digest& leaf) {
    if (count++ < size) take(leaf, {});
  }));
  TRY(os::Fd own, os::duplicate(directory));
  TRY(audit::LogReader reader, audit::LogReader::open(std::move(own)));
  for (; count < size; ++count) {
    TRY(const auto line, reader.next());
    if (!line) return Error{Errc::not_found, "the log has fewer records than its head says"};
    take(audit::leaf_hash(as_bytes(*line)), *line);
  }
  return {};
}

json::array path_of(const std::vector<Digest>& proof) {
  json::array path;
  for (const Digest& step : proof) path.emplace_back(to_hex(step));
  return path;
}

// The last one that is trusted; nothing where there is none.
std::optional<audit::Head> last_head(const KnownHeads& known, const std::string& log,
                                     std::optional<std::uint64_t> size = {}) {
  std::optional<audit::Head> last;
  for (const audit::Head& head : known.heads) {
    if (head.log != log || !known.is_trusted(head)) continue;
    if (size ? head.size == *size : !last || head.size > last->size) last = head;
  }
  return last;
}

Result<json::object> prove_record(const os::Fd& directory, const audit::Head& head,
                                  std::uint64_t number) {
  if (number >= head.size) {
    return Error{Errc::not_found,
                 fmt::format("record {} is not signed yet: {} are; `cordon audit seal` has all "
                             "signed",
                             number, head.size)};
  }
  audit::Prover prover{audit::steps_of_inclusion(number, head.size)};
  std::string line;
  std::uint64_t at = 0;
  TRY_DO(each_leaf(directory, head.size, [&](const Digest& leaf, std::string_view text) {
    prover.add(leaf);
    if (at++ == number) line = text;
  }));
  if (line.empty()) {
    return Error{Errc::not_found,
                 fmt::format("record {} was dropped: only its hash is kept", number)};
  }
  return json::object{{"cordon_audit_proof", kProofVersion},
                      {"kind", "record"},
                      {"number", number},
                      {"record", line},
                      {"path", path_of(prover.proof())},
                      {"head", encode(head)}};
}

Result<json::object> prove_growth(const os::Fd& directory, const audit::Head& older,
                                  const audit::Head& head) {
  audit::Prover prover{audit::steps_of_consistency(older.size, head.size)};
  TRY_DO(each_leaf(directory, head.size,
                   [&](const Digest& leaf, std::string_view) { prover.add(leaf); }));
  return json::object{{"cordon_audit_proof", kProofVersion},
                      {"kind", "growth"},
                      {"older", encode(older)},
                      {"path", path_of(prover.proof())},
                      {"head", encode(head)}};
}

Result<json::object> prove(const AuditOptions& options, const Context& context) {
  TRY(const os::Fd directory, open_log(options, context));
  TRY(const std::string log, audit::read_log_id(directory));
  TRY(const KnownHeads known, known_heads(options, directory, context));
  const auto head = last_head(known, log);
  if (!head) {
    return Error{Errc::not_found, "the log has no signed head; `cordon audit seal` has it signed"};
  }
  if (options.record) return prove_record(directory, *head, *options.record);
  const auto older = last_head(known, log, options.since);
  if (!older) {
    return Error{Errc::not_found,
                 fmt::format("no head of {} records was signed", options.since.value_or(0))};
  }
  return prove_growth(directory, *older, *head);
}

// --- checking one

Error no_proof(std::string_view why) {
  return {Errc::invalid, "this is no proof: " + std::string{why}};
}

struct Proof {
  std::optional<std::uint64_t> number;  // of a record; else of growth
  std::string record;
  std::optional<audit::Head> older;
  std::vector<Digest> path;
  audit::Head head;
};

Result<std::string> text_at(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return no_proof(name);
  return std::string{value->as_string()};
}

Result<std::vector<Digest>> path_at(const json::object& object) {
  const json::value* const value = object.if_contains("path");
  if (value == nullptr || !value->is_array() || value->as_array().size() > kMostSteps) {
    return no_proof("path");
  }
  std::vector<Digest> path;
  for (const json::value& step : value->as_array()) {
    Digest hash{};
    if (!step.is_string() || !from_hex(step.as_string(), hash)) return no_proof("path");
    path.push_back(hash);
  }
  return path;
}

Result<Proof> read_proof(const std::string& text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  const json::object* const object = error ? nullptr : value.if_object();
  if (object == nullptr) return no_proof("it is not JSON");
  const json::value* const version = object->if_contains("cordon_audit_proof");
  if (version == nullptr || *version != kProofVersion) return no_proof("cordon_audit_proof");
  Proof proof;
  TRY(const std::string head, text_at(*object, "head"));
  TRY(proof.head, audit::decode_head(head));
  TRY(proof.path, path_at(*object));
  TRY(const std::string kind, text_at(*object, "kind"));
  if (kind == "growth") {
    TRY(const std::string older, text_at(*object, "older"));
    TRY(proof.older, audit::decode_head(older));
    return proof;
  }
  if (kind != "record") return no_proof("kind");
  const json::value* const number = object->if_contains("number");
  if (number == nullptr || !number->is_int64() || number->as_int64() < 0) return no_proof("number");
  proof.number = static_cast<std::uint64_t>(number->as_int64());
  TRY(proof.record, text_at(*object, "record"));
  return proof;
}

// Nothing where it holds; else why not.
std::string why_not(const Proof& proof) {
  if (proof.older) {
    if (proof.older->log != proof.head.log) return "its heads are of two logs";
    return audit::is_consistent(proof.older->size, proof.older->root, proof.head.size,
                                proof.head.root, proof.path)
               ? ""
               : "the later head does not continue the earlier one";
  }
  const auto link = audit::link_of(proof.record);
  if (!link || link->number != proof.number) return "the record has another number";
  return audit::is_included(audit::leaf_hash(as_bytes(proof.record)), *proof.number,
                            proof.head.size, proof.head.root, proof.path)
             ? ""
             : "the head was not signed over this record";
}

struct CheckedProof {
  Proof proof;
  bool is_known = false;  // its key was named by the caller
  std::string why;        // empty: it holds
};

Result<CheckedProof> check(const AuditOptions& options) {
  TRY(const std::string text, read_text_file(options.proof));
  TRY(Proof proof, read_proof(text));
  std::vector<audit::Head> heads{proof.head};
  if (proof.older) heads.push_back(*proof.older);
  TRY(const std::vector<bool> good, check_signatures(heads));
  CheckedProof checked{.proof = std::move(proof), .is_known = !options.keys.empty(), .why = {}};
  if (std::ranges::find(good, false) != good.end()) {
    checked.why = "a head was not signed with the key that it names";
    return checked;
  }
  for (const std::string& word : options.keys) {
    TRY(const audit::PublicKey key, read_public_key(word));
    const bool is_of_key =
        std::ranges::all_of(heads, [&](const audit::Head& head) { return head.key == key; });
    if (is_of_key) {
      checked.why = why_not(checked.proof);
      return checked;
    }
  }
  checked.why = options.keys.empty() ? why_not(checked.proof)
                                     : "its heads are signed with another key than --key";
  return checked;
}

}  // namespace

void audit_prove(const AuditOptions& options, Context& context) {
  if (options.record.has_value() == options.since.has_value()) {
    return fail_typed(context, {Errc::invalid, "say which record, or --since SIZE"});
  }
  const auto proof = prove(options, context);
  if (!proof) return fail(context, proof.error());
  context.out << json::serialize(*proof) << '\n';
}

void audit_check_proof(const AuditOptions& options, Context& context) {
  const auto checked = check(options);
  if (!checked) return fail(context, checked.error());
  const Proof& proof = checked->proof;
  const std::string key = to_hex(proof.head.key);
  if (!checked->why.empty()) context.exit = Exit::no;
  if (options.json) {
    context.out << json::serialize(json::object{{"ok", checked->why.empty()},
                                                {"why", checked->why},
                                                {"log", proof.head.log},
                                                {"size", proof.head.size},
                                                {"key", key},
                                                {"key_known", checked->is_known}})
                << '\n';
    return;
  }
  if (!checked->why.empty()) {
    context.out << "does not hold: " << checked->why << '\n';
    return;
  }
  context.out << (proof.older
                      ? fmt::format("holds: of the {} records of log {}, the first {} are those "
                                    "that were signed earlier\n",
                                    proof.head.size, proof.head.log, proof.older->size)
                      : fmt::format("holds: record {} of log {}, signed among {}\n",
                                    proof.number.value_or(0), proof.head.log, proof.head.size));
  context.out << "key    " << key
              << (checked->is_known ? "" : ", which the proof itself names: compare it") << '\n';
}

}  // namespace cordon::cli
