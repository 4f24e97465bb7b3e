// SPDX-License-Identifier: Apache-2.0
#include "egress/name_table.h"

#include <fmt/format.h>

#include "policy/host.h"
#include "policy/text.h"

namespace cordon::egress {

Result<NamedAddress> NameTable::add(std::string_view name, NameOrigin origin) {
  if (const auto known = address_of(name)) return NamedAddress{*known, false};
  if (!policy::is_canonical_name(name))
    return Error{Errc::invalid, policy::in_quotes(name) + " is no host name"};
  const bool pinned = origin == NameOrigin::pinned;
  std::vector<std::string>& names = pinned ? pinned_ : fresh_;
  if (names.size() == kMostOfEach || bytes_ + name.size() > kMostBytes) {
    return Error{
        Errc::exhausted,
        fmt::format("no address left for {}: this sandbox has asked for {} names of {} bytes",
                    policy::in_quotes(name), pinned_.size() + fresh_.size(), bytes_)};
  }
  const auto ipv4 =
      (pinned ? kFirstPinned : kFirstFresh) + static_cast<std::uint32_t>(names.size());
  names.emplace_back(name);
  addresses_.emplace(name, ipv4);
  bytes_ += name.size();
  return NamedAddress{ipv4, true};
}

std::optional<std::uint32_t> NameTable::address_of(std::string_view name) const {
  const auto found = addresses_.find(name);
  if (found == addresses_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string_view> NameTable::name_of(std::uint32_t ipv4) const {
  // Below the first address the difference is huge.
  if (const std::uint32_t index = ipv4 - kFirstFresh; index < fresh_.size()) return fresh_[index];
  if (const std::uint32_t index = ipv4 - kFirstPinned; index < pinned_.size())
    return pinned_[index];
  return std::nullopt;
}

}  // namespace cordon::egress
