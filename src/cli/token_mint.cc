// SPDX-License-Identifier: Apache-2.0
// cordon token mint and attenuate.
#include <ostream>
#include <unistd.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/bytes.h"
#include "base/clock.h"
#include "cli/text_file.h"
#include "cli/token_verbs.h"
#include "os/random.h"
#include "token/api_key.h"
#include "token/token.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

constexpr std::string_view kNever = "never";
constexpr std::string_view kMintedFor = "24h";

// What was typed, as caveats; `invalid`: it makes no sense.
Result<std::vector<token::Caveat>> typed_for_mint(TokenOptions options) {
  if (!options.is_operator && options.tenant.empty()) {
    return Error{Errc::invalid,
                 "--tenant is missing: only a token with --operator is for every tenant"};
  }
  if (options.expires == kNever && !options.is_operator) {
    return Error{Errc::invalid,
                 "--expires never: only an operator's token holds until it is revoked"};
  }
  if (options.expires.empty()) options.expires = kMintedFor;
  if (options.expires == kNever) options.expires.clear();
  return caveats_of(options, wall_seconds());
}

Result<std::vector<token::Caveat>> typed_for_attenuate(const TokenOptions& options) {
  TRY_DO(refuse_stray(options));
  if (options.expires == kNever)
    return Error{Errc::invalid, "--expires never: a narrower token lives no longer"};
  TRY(auto caveats, caveats_of(options, wall_seconds()));
  if (caveats.empty() && options.ceiling.empty())
    return Error{Errc::invalid, "nothing to narrow: give at least one of the options of --help"};
  return caveats;
}

Result<std::string> mint(const TokenOptions& options, std::vector<token::Caveat> caveats) {
  TRY_DO(add_ceiling(options, caveats));
  TRY(const token::AudienceKey key, audience_key(options));
  TRY(const auto random, os::random_bytes<token::kIdSize>());
  return token::mint(key, random,
                     {.is_operator = options.is_operator, .caveats = std::move(caveats)});
}

Result<std::string> attenuate(const TokenOptions& options, std::vector<token::Caveat> caveats,
                              Context& context) {
  TRY_DO(add_ceiling(options, caveats));
  TRY(const std::string text, read_token(options, context));
  return token::attenuate(text, caveats);
}

// The token alone, so that it can go where it is needed.
void print(const Result<std::string>& text, const TokenOptions& options, Context& context) {
  if (!text) return fail(context, text.error());
  const std::string shown = options.for_e2b ? token::e2b_key_of_token(*text) : *text;
  if (!options.json) {
    context.out << shown << '\n';
    return;
  }
  const auto contents = token::read(*text);
  context.out << json::object{{"token", shown},
                              {"revocation", contents ? to_hex(contents->revocation) : ""}}
              << '\n';
}

}  // namespace

std::chrono::sys_seconds wall_seconds() {
  return std::chrono::floor<std::chrono::seconds>(SystemClock{}.wall());
}

Status refuse_stray(const TokenOptions& options) {
  if (options.stray.empty()) return {};
  return Error{Errc::invalid,
               "a token is no argument, since every user of this machine sees arguments: use "
               "--token-file, CORDON_TOKEN or standard input"};
}

void fail_typed(Context& context, const Error& error) {
  fail(context, error);
  context.exit = Exit::usage;
}

Result<std::string> read_token(const TokenOptions& options, Context& context) {
  std::string text;
  if (auto held = context.environment("CORDON_TOKEN");
      options.token_file.empty() && held && !held->empty()) {
    text = *std::move(held);
  } else {
    if (options.token_file.empty() && ::isatty(STDIN_FILENO) == 1)
      context.err << "cordon: waiting for a token on standard input\n";
    TRY(text, read_text_file(options.token_file.empty() ? "-" : options.token_file));
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

void token_mint(const TokenOptions& options, Context& context) {
  auto typed = typed_for_mint(options);
  if (!typed) return fail_typed(context, typed.error());
  print(mint(options, *std::move(typed)), options, context);
}

void token_attenuate(const TokenOptions& options, Context& context) {
  auto typed = typed_for_attenuate(options);
  if (!typed) return fail_typed(context, typed.error());
  print(attenuate(options, *std::move(typed), context), options, context);
}

}  // namespace cordon::cli
