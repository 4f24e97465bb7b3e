// SPDX-License-Identifier: Apache-2.0
// The verbs of `cordon token`. Each writes to the context's streams and sets its exit code.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

#include "cli/verbs.h"
#include "token/caveat.h"
#include "token/key_file.h"

namespace cordon::cli {

struct TokenOptions {
  std::string key;       // a file
  std::string audience;  // empty: that of the key
  bool is_operator = false;
  std::string tenant;
  std::vector<std::string> operations;
  std::vector<std::string> sandboxes;
  std::vector<std::string> paths;
  std::string ceiling;  // a file
  std::vector<std::string> budgets;
  std::string expires;
  std::string token_file;
  std::vector<std::string> stray;  // arguments, of which a token may be one
  std::string file;                // of a new key
  std::string from;                // the root that it is derived from
  unsigned number = 1;
  bool json = false;
  bool for_e2b = false;
};

void token_key(const TokenOptions& options, Context& context);
void token_mint(const TokenOptions& options, Context& context);
void token_attenuate(const TokenOptions& options, Context& context);
void token_inspect(const TokenOptions& options, Context& context);
void add_token_revoke(CLI::App& group, Context& context);

// Flags of all caveats but --tenant and --expires.
void add_caveat_flags(CLI::App& verb, TokenOptions& options);
// As `inspect --json` prints it, and as API v1 takes it.
boost::json::value caveat_json(const token::Caveat& caveat);

// The caveats that the options state, but for the ceiling. `invalid`: what was typed is no caveat.
Result<std::vector<token::Caveat>> caveats_of(const TokenOptions& options,
                                              std::chrono::sys_seconds now);
// The policy of --ceiling, where there is one.
Status add_ceiling(const TokenOptions& options, std::vector<token::Caveat>& caveats);
// `invalid`: a word stands where none belongs. It is not repeated: it may be a token.
Status refuse_stray(const TokenOptions& options);
// Like fail(), for what was typed.
void fail_typed(Context& context, const Error& error);

// From the file that was named, else from CORDON_TOKEN, else from standard input; never from an
// argument. Without the newline at its end.
Result<std::string> read_token(const TokenOptions& options, Context& context);

// `denied`: others than its owner can read the file.
Result<token::AnyKey> read_key(const std::string& file);
// The key of --key for the audience of --audience.
Result<token::AudienceKey> audience_key(const TokenOptions& options);

// "2026-11-16 02:14:00 UTC"
std::string date_words(std::chrono::sys_seconds time);
// "in 23 h", "5 min ago", "now"
std::string distance_words(std::chrono::sys_seconds time, std::chrono::sys_seconds now);

std::chrono::sys_seconds wall_seconds();

}  // namespace cordon::cli
