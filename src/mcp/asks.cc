// SPDX-License-Identifier: Apache-2.0
#include "mcp/asks.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"
#include "hash/sha256.h"

namespace cordon::mcp {

std::string Asks::secret_of(std::string_view what) {
  // The key stands at both ends: nothing can be added behind what was hashed.
  const std::string counted = fmt::format("\n{}\n", ++count_);
  return to_hex(sha256({as_bytes(key_), as_bytes(counted), as_bytes(what), as_bytes(key_)}));
}

std::string Asks::digest_of(const Call& call) const {
  const std::string_view apart{"\0", 1};
  return to_hex(sha256({as_bytes(sandbox_), as_bytes(apart), as_bytes(call.tool), as_bytes(apart),
                        as_bytes(call.digest)}));
}

std::optional<std::string> Asks::hold(Asked asked) {
  if (held_.size() >= kMost || held_bytes_ + asked.line.size() > kMostBytes) return std::nullopt;
  held_bytes_ += asked.line.size();
  std::string id = fmt::format("\"{}{}\"", kPrefix, secret_of(digest_of(asked.call)));
  held_.emplace(id, std::move(asked));
  return id;
}

std::optional<Asked> Asks::answered(const std::string& id) {
  auto node = held_.extract(id);
  if (node.empty()) return std::nullopt;
  held_bytes_ -= node.mapped().line.size();
  return std::move(node.mapped());
}

bool Asks::cancel(const std::string& call_id) {
  const auto found =
      std::ranges::find_if(held_, [&](const auto& each) { return each.second.call.id == call_id; });
  if (found == held_.end()) return false;
  held_bytes_ -= found->second.line.size();
  held_.erase(found);
  return true;
}

bool Asks::holds(const std::string& call_id) const {
  return std::ranges::any_of(held_,
                             [&](const auto& each) { return each.second.call.id == call_id; });
}

void Asks::add_to(std::deque<State>& states, State state) {
  if (states.size() == kMostStates) states.pop_front();
  states.push_back(std::move(state));
}

bool Asks::take_from(std::deque<State>& states, const std::string& text, const std::string& call) {
  const auto found = std::ranges::find(states, text, &State::text);
  if (found == states.end()) return false;
  const bool same = found->call == call;
  states.erase(found);
  return same;
}

std::string Asks::state_for(const Call& call) {
  const std::string digest = digest_of(call);
  std::string state = fmt::format("{}{}", kPrefix, secret_of(digest));
  add_to(states_, {state, digest});
  return state;
}

bool Asks::take_state(const std::string& state, const Call& call) {
  return take_from(states_, state, digest_of(call));
}

void Asks::let_continue(const std::string& state, const Call& call) {
  add_to(continued_, {state, digest_of(call)});
}

bool Asks::take_continued(const std::string& state, const Call& call) {
  return take_from(continued_, state, digest_of(call));
}

}  // namespace cordon::mcp
