// SPDX-License-Identifier: Apache-2.0
// Calls that wait for a person. An approval is good for one call: that tool, those arguments, this
// sandbox.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/judge.h"

namespace cordon::mcp {

// A call that is asked about, and how it would go on.
struct Asked {
  Call call;
  std::string line;  // of the legacy era: what goes to the server as it came
  std::string rule;
};

class Asks {
 public:
  static constexpr std::size_t kMost = 16;
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20U;

  // Nobody who does not know `key` can make what this makes.
  Asks(std::string key, std::string sandbox) : key_{std::move(key)}, sandbox_{std::move(sandbox)} {}

  // Legacy: the id, as JSON, of the request to the client. Nothing: too many wait already.
  std::optional<std::string> hold(Asked asked);
  // The call that the answer with this id is about; nothing: none of ours waits for it.
  std::optional<Asked> answered(const std::string& id);
  // The client gave the call up: true where it waited.
  bool cancel(const std::string& call_id);
  bool holds(const std::string& call_id) const;

  // Modern: what the client brings back with its answer. The oldest is forgotten when there are
  // many.
  std::string state_for(const Call& call);
  static bool is_ours(std::string_view state) { return state.starts_with(kPrefix); }
  // Whether `state` was made for such a call; it is used up, also by a call that differs.
  bool take_state(const std::string& state, const Call& call);

  // An approved call for which the server itself wants to hear more: what its client brings back,
  // with the server's state or (empty) without one, goes through unasked, once.
  void let_continue(const std::string& state, const Call& call);
  bool take_continued(const std::string& state, const Call& call);

 private:
  static constexpr std::string_view kPrefix = "cordon-";
  static constexpr std::size_t kMostStates = 64;
  struct State {
    std::string text;
    std::string call;
  };
  std::string secret_of(std::string_view what);
  std::string digest_of(const Call& call) const;
  static bool take_from(std::deque<State>& states, const std::string& text,
                        const std::string& call);
  static void add_to(std::deque<State>& states, State state);

  std::string key_;
  std::string sandbox_;
  std::uint64_t count_ = 0;
  std::map<std::string, Asked> held_;  // by the id of our request
  std::size_t held_bytes_ = 0;
  std::deque<State> states_;
  std::deque<State> continued_;
};

}  // namespace cordon::mcp
