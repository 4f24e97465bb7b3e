// SPDX-License-Identifier: Apache-2.0
// Asking the person behind a client, in either era.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cli/mcp/call.h"
#include "mcp/server/consent.h"

namespace cordon::cli {

struct Question {
  std::string message;
  std::vector<std::string> choices;  // the first agrees, the last does not
  std::string about;                 // all that the answer holds for, beside the call itself
};

struct Chosen {
  std::string choice;
};
struct Declined {
  std::string why;
};
// Nobody can be asked.
struct Nobody {};
using Asked = std::variant<Chosen, Declined, Nobody, InputRequired, mcp::server::Problem>;

// An answer counts once, and only for this call with these arguments. All outlive it.
asio::awaitable<Asked> ask(Call& call, mcp::server::Consents& consents, Question question);

}  // namespace cordon::cli
