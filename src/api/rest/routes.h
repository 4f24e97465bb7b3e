// SPDX-License-Identifier: Apache-2.0
// The routes of API v1: one row for each, which api/openapi.yaml describes and a test compares.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.h"
#include "token/operation.h"

namespace cordon::api {

class Rest;
struct Call;

struct Route {
  std::string_view method;
  std::string_view pattern;  // "/v1/sandboxes/{id}"; {path...}: all that follows, from its slash on
  std::optional<token::Operation> operation;  // nothing: open to everybody
  async::Task<void> (Rest::*handler)(Call&) = nullptr;
  // It may take long, and is cut where its token is revoked meanwhile.
  bool lasts = false;
  bool is_proxy = false;  // the query is for somebody else
};

std::span<const Route> all_routes() noexcept;

struct Match {
  const Route* route = nullptr;  // nothing: there is none
  std::vector<std::string> places{};
  std::string allowed{};  // methods of this path, where only the method is wrong: "GET, DELETE"
};
// Whether a path is of that pattern; what stands at its braces, where it is. Before: `places` is
// empty.
bool fits(std::string_view pattern, std::string_view path, std::vector<std::string>& places);

// `path`: as a request head has it. A segment with a percent sign stands for no place.
Match match(std::string_view method, std::string_view path);

}  // namespace cordon::api
