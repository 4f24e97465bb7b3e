// SPDX-License-Identifier: Apache-2.0
// cordon policy replay: what a candidate would have allowed and refused of runs that are recorded.
#include <algorithm>
#include <map>
#include <ostream>
#include <tuple>

#include <fmt/format.h>

#include "cli/policy_verbs.h"
#include "cli/replay.h"
#include "terminal/text_filter.h"
#include "wire/json_writer.h"

namespace cordon::cli {
namespace {

// How an act was answered then, and is now.
enum class Turn : std::uint8_t { newly_refused, newly_allowed, still_refused, still_allowed };

Turn turn_of(const Replayed& one) {
  if (one.was_refused) return one.is_refused_now() ? Turn::still_refused : Turn::newly_allowed;
  return one.is_refused_now() ? Turn::newly_refused : Turn::still_allowed;
}

struct TurnWords {
  char sign;
  std::string_view name;   // in JSON
  std::string_view words;  // for a person
};
TurnWords words_of(Turn turn) {
  switch (turn) {
    case Turn::newly_refused:
      return {'-', "newly_refused", "was allowed, would be refused"};
    case Turn::newly_allowed:
      return {'+', "newly_allowed", "was refused, would be allowed"};
    case Turn::still_refused:
      return {' ', "still_refused", "refused then, and still"};
    case Turn::still_allowed:
      return {' ', "still_allowed", "allowed then, and still"};
  }
  return {' ', "still_allowed", ""};
}

constexpr Turn kTurns[] = {Turn::newly_refused, Turn::newly_allowed, Turn::still_refused,
                           Turn::still_allowed};

struct Replay {
  std::vector<Replayed> acts;
  std::uint64_t runs = 0;
  std::uint64_t unasked = 0;

  std::uint64_t uses(Turn turn) const {
    std::uint64_t sum = 0;
    for (const Replayed& one : acts) sum += turn_of(one) == turn ? one.uses : 0;
    return sum;
  }
};

Result<Replay> replay_all(const policy::Policy& policy, const ReplayOptions& options,
                          const Context& context) {
  Replay found;
  for (const std::string& id : options.runs) {
    TRY(const RunHistory run, read_history(options.log, context, id));
    const ReplayPlace place{
        .workspace = workspace_of(run, options.workspace, context),
        .homes = {"/home/user", context.environment("HOME").value_or("/home/user")}};
    for (Replayed& one : replay(policy, run, place)) found.acts.push_back(std::move(one));
    found.unasked += run.unasked;
    ++found.runs;
  }
  return found;
}

// What changes and what is refused is told one by one; what stays allowed by its rules.
void print_text(const Replay& found, std::ostream& out) {
  for (const Turn turn : kTurns) {
    std::map<std::tuple<std::string, std::string, std::string, std::string>, std::uint64_t> lines;
    for (const Replayed& one : found.acts) {
      if (turn_of(one) != turn) continue;
      const bool one_by_one = turn != Turn::still_allowed;
      lines[{one.kind, one.rule, one_by_one ? one.what : "",
             one.is_refused_now() ? one.why : ""}] += one.uses;
    }
    const TurnWords words = words_of(turn);
    if (!lines.empty()) out << fmt::format("{}: {}\n", words.words, found.uses(turn));
    for (const auto& [line, uses] : lines) {
      const auto& [kind, rule, what, why] = line;
      std::string text = fmt::format("  {} {:<6} {:>5} x", words.sign, kind, uses);
      for (const std::string& part : {what, rule, why}) {
        if (!part.empty()) text += "  " + part;
      }
      out << terminal::printable(text) << '\n';
    }
  }
  if (found.acts.empty()) out << "nothing is recorded that a policy could be asked about\n";
  if (found.unasked > 0) {
    out << fmt::format("{} more could not be asked about: too little is told of them\n",
                       found.unasked);
  }
}

void print_json(const Replay& found, std::ostream& out) {
  wire::JsonWriter json;  // a path need not be UTF-8
  json.begin_object();
  json.number("runs", found.runs);
  json.number("unasked", found.unasked);
  for (const Turn turn : kTurns) json.number(words_of(turn).name, found.uses(turn));
  json.key("acts");
  json.begin_array();
  for (const Replayed& one : found.acts) {
    json.begin_object();
    json.text("sandbox", one.sandbox);
    json.text("kind", one.kind);
    json.text("what", one.what);
    json.number("uses", one.uses);
    json.text("turn", words_of(turn_of(one)).name);
    json.text("effect", to_string(one.now));
    json.text("rule", one.rule);
    json.text("why", one.why);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  out << json.take() << '\n';
}

}  // namespace

void policy_replay(const PolicyOptions& options, const ReplayOptions& replayed, Context& context) {
  policy::Problems problems{options.file};
  const auto policy = load_policy(options, context, problems);
  if (!policy) return report(policy.error(), problems, options, context);
  const auto found = replay_all(*policy, replayed, context);
  if (!found) return fail(context, found.error());
  if (options.json) {
    print_json(*found, context.out);
  } else {
    print_text(*found, context.out);
  }
  if (found->uses(Turn::newly_refused) > 0) context.exit = Exit::no;
}

}  // namespace cordon::cli
