// SPDX-License-Identifier: Apache-2.0
// cordon token inspect: what a token says of itself, and with a key whether it is true.
#include <ostream>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/bytes.h"
#include "cli/token_verbs.h"
#include "policy/text.h"
#include "token/token.h"
#include "token/verify.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

struct CaveatLine {
  std::string name;
  std::string words;
  json::value value;
};

// One line of the answer for each kind of caveat.
struct Describe {
  std::chrono::sys_seconds now;

  CaveatLine operator()(const token::TenantIs& caveat) const {
    return {"tenant", caveat.tenant, json::string{caveat.tenant}};
  }
  CaveatLine operator()(const token::SandboxIn& caveat) const {
    CaveatLine line{"sandbox", "", json::array{}};
    for (const SandboxId& id : caveat.sandboxes) add(line, id.text());
    return or_none(std::move(line));
  }
  CaveatLine operator()(const token::OperationIn& caveat) const {
    CaveatLine line{"operation", "", json::array{}};
    for (const token::OperationRow& row : token::all_operations())
      if (caveat.operations.has(row.operation)) add(line, row.name);
    return or_none(std::move(line));
  }
  CaveatLine operator()(const token::PathBelow& caveat) const {
    return {"path", caveat.prefix, json::string{caveat.prefix}};
  }
  CaveatLine operator()(const token::PolicyCeiling& caveat) const {
    return {"ceiling", policy::printable(caveat.json), json::string{caveat.json}};
  }
  CaveatLine operator()(const token::BudgetOf& caveat) const {
    const std::string name{token::to_string(caveat.quantity)};
    return {"budget", fmt::format("{}={}", name, caveat.most), json::object{{name, caveat.most}}};
  }
  CaveatLine operator()(const token::ExpiresAt& caveat) const {
    return {"expires",
            fmt::format("{}, {}", date_words(caveat.time), distance_words(caveat.time, now)),
            caveat.time.time_since_epoch().count()};
  }

  static void add(CaveatLine& line, std::string_view word) {
    if (!line.words.empty()) line.words += ' ';
    line.words += word;
    line.value.as_array().emplace_back(word);
  }
  static CaveatLine or_none(CaveatLine line) {
    if (line.words.empty()) line.words = "none";
    return line;
  }
};

struct Found {
  token::Contents contents;
  bool verified = false;
};

// `denied`: the key says that it is worth nothing.
Result<Found> examine(TokenOptions options, Context& context) {
  TRY(const std::string text, read_token(options, context));
  TRY(token::Contents contents, token::read(text));
  if (options.key.empty()) return Found{std::move(contents), false};
  options.audience = contents.audience;
  TRY(token::AudienceKey key, audience_key(options));
  token::Refused refused;
  const token::Verifier verifier{
      .keys = std::span{&key, 1}, .now = wall_seconds(), .is_revoked = {}};
  if (token::verify(text, verifier, &refused)) return Found{std::move(contents), true};
  return Error{Errc::denied,
               fmt::format("this token is worth nothing: {}", token::to_string(refused.fault))};
}

void print_json(const Found& found, const std::vector<CaveatLine>& lines, Context& context) {
  json::array caveats;
  for (const CaveatLine& line : lines) caveats.push_back(json::object{{line.name, line.value}});
  context.out << json::object{{"audience", found.contents.audience},
                              {"key", found.contents.key_number},
                              {"operator", found.contents.is_operator},
                              {"caveats", std::move(caveats)},
                              {"revocation", to_hex(found.contents.revocation)},
                              {"verified", found.verified}}
              << '\n';
}

void print_text(const Found& found, const std::vector<CaveatLine>& lines, Context& context) {
  const auto line = [&](std::string_view name, std::string_view words) {
    context.out << fmt::format("{:<10} {}\n", name, words);
  };
  line("audience", fmt::format("{}, key {}", found.contents.audience, found.contents.key_number));
  if (found.contents.is_operator) line("operator", "yes: for every tenant, and the node itself");
  for (const CaveatLine& each : lines) line(each.name, each.words);
  line("revocation", to_hex(found.contents.revocation));
  line("verified", found.verified ? "yes, but nobody was asked whether it was revoked"
                                  : "no: anyone can write such a text; --key FILE verifies it");
}

}  // namespace

std::string date_words(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string distance_words(std::chrono::sys_seconds time, std::chrono::sys_seconds now) {
  const std::int64_t seconds = (time > now ? time - now : now - time).count();
  if (seconds == 0) return "now";
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  // To the nearest: a day that was given a second ago is still a day.
  const auto in = [&](std::int64_t unit, std::string_view name) {
    return fmt::format("{} {}", (seconds + unit / 2) / unit, name);
  };
  const std::string length = seconds < 2 * kMinute ? in(1, "s")
                             : seconds < 2 * kHour ? in(kMinute, "min")
                             : seconds < 2 * kDay  ? in(kHour, "h")
                                                   : in(kDay, "days");
  return time > now ? "in " + length : length + " ago";
}

json::value caveat_json(const token::Caveat& caveat) {
  CaveatLine line = std::visit(Describe{wall_seconds()}, caveat);
  return json::object{{line.name, std::move(line.value)}};
}

void token_inspect(const TokenOptions& options, Context& context) {
  if (const auto typed = refuse_stray(options); !typed) return fail_typed(context, typed.error());
  const auto found = examine(options, context);
  if (!found) return fail(context, found.error());
  std::vector<CaveatLine> lines;
  const Describe describe{wall_seconds()};
  for (const token::Caveat& caveat : found->contents.caveats)
    lines.push_back(std::visit(describe, caveat));
  if (options.json) {
    print_json(*found, lines, context);
  } else {
    print_text(*found, lines, context);
  }
}

}  // namespace cordon::cli
