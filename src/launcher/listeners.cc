// SPDX-License-Identifier: Apache-2.0
#include "launcher/listeners.h"

#include <algorithm>

#include "os/accept.h"

namespace cordon::launcher {
namespace {

constexpr std::size_t kLongestName = 32;
constexpr std::size_t kLongestAddress = 256;

bool is_name(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  });
}

}  // namespace

Status Listeners::keep(const std::string& name, Kept kept) {
  if (!is_name(name)) return Error{Errc::invalid, "a name that is not of letters and digits"};
  if (kept.address.size() > kLongestAddress) return Error{Errc::invalid, "too long an address"};
  TRY_DO(os::is_tcp_listener(kept.socket));  // or of the Unix domain
  if (held_.size() >= kMost && !held_.contains(name)) {
    return Error{Errc::exhausted, "too many sockets are kept"};
  }
  held_.insert_or_assign(name, std::move(kept));
  return {};
}

const Listeners::Kept* Listeners::find(const std::string& name) const {
  const auto found = held_.find(name);
  return found == held_.end() ? nullptr : &found->second;
}

}  // namespace cordon::launcher
