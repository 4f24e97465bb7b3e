// SPDX-License-Identifier: Apache-2.0
#include "mcp/server/consent.h"

#include <algorithm>

#include "base/bytes.h"

namespace cordon::mcp::server {

std::string Consents::tag_of(std::string_view nonce, std::string_view question) const {
  return to_hex(token::hmac(key_, {as_bytes(nonce), as_bytes(question)}).bytes());
}

std::string Consents::ask(const Nonce& nonce, std::string_view question, Ticks now) {
  std::erase_if(open_, [&](const auto& each) { return each.second <= now; });
  if (open_.size() >= kMost) {
    open_.erase(std::ranges::min_element(
        open_, {}, [](const auto& each) -> const Ticks& { return each.second; }));
  }
  std::string name = to_hex(nonce);
  std::string tag = tag_of(name, question);
  open_.emplace(name, now + kLongest);
  return std::move(name) + "." + std::move(tag);
}

Status Consents::take(std::string_view state, std::string_view question, Ticks now) {
  const std::size_t dot = state.find('.');
  const std::string_view name = state.substr(0, dot);
  Digest said{};
  if (dot == std::string_view::npos || !from_hex(state.substr(dot + 1), said)) {
    return Error{Errc::denied, "requestState is none of this server"};
  }
  const token::Secret ours = token::hmac(key_, {as_bytes(name), as_bytes(question)});
  if (!token::same_bytes(ours.bytes(), said)) {
    return Error{Errc::denied, "requestState is not for this question: what is asked has changed"};
  }
  const auto found = open_.find(name);
  if (found == open_.end()) {
    return Error{Errc::denied, "requestState was used already, or is too old: ask again"};
  }
  const bool is_late = found->second <= now;
  open_.erase(found);
  if (is_late) return Error{Errc::denied, "requestState is too old: ask again"};
  return {};
}

}  // namespace cordon::mcp::server
