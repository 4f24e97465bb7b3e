// SPDX-License-Identifier: Apache-2.0
#include "egress/ward_authority.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "policy/checked.h"

namespace cordon::egress {
namespace {

using Authority = std::optional<CertificateAuthority>;

// In place of a size: it was made without one, and gets none later, since nobody inside would trust
// it.
constexpr std::uint32_t kNone = 0xFFFFFFFF;

std::uint32_t size_in(std::span<const std::byte> slot) {
  std::uint32_t size = 0;
  std::memcpy(&size, slot.data(), sizeof size);
  return size;
}

// The length last: a death in between leaves nothing.
Status keep(std::span<std::byte> slot, const CertificateAuthority& authority) {
  TRY(const SecretText bytes, authority.to_bytes());
  const std::string_view text = bytes.view();
  const auto size = static_cast<std::uint32_t>(text.size());
  if (sizeof size + text.size() > slot.size()) {
    return Error{Errc::exhausted, "too many names are judged by their requests"};
  }
  std::memcpy(slot.data() + sizeof size, text.data(), text.size());
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::memcpy(slot.data(), &size, sizeof size);
  return {};
}

}  // namespace

std::vector<std::string> judged_names(const policy::Policy& policy) {
  std::vector<std::string> names;
  const auto add = [&](std::string name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  };
  for (const auto& checked : policy.documents()) {
    const policy::PolicyDocument& document = checked->document();
    for (const policy::EgressRule& rule : document.network.egress_allowlist.items) {
      const bool judged = !rule.methods.empty() || !rule.paths.empty();
      if (judged && rule.protocol == policy::Protocol::tls && !rule.host.address) {
        add(to_string(rule.host));
      }
    }
    for (const policy::Grant& grant : document.credentials.grants.items) {
      add(to_string(grant.host));
    }
  }
  return names;
}

Result<Authority> open_authority(std::span<std::byte> slot, const policy::Policy& policy,
                                 WallTime now) {
  const std::uint32_t size = size_in(slot);
  if (size == kNone) return Authority{};
  if (size > slot.size() - sizeof size) {
    return Error{Errc::invalid, "the authority of an earlier cordon-egress is broken"};
  }
  if (size > 0) {
    const std::string_view bytes{reinterpret_cast<const char*>(slot.data()) + sizeof size, size};
    TRY(CertificateAuthority kept, CertificateAuthority::from_bytes(bytes));
    return Authority{std::move(kept)};
  }
  const std::vector<std::string> names = judged_names(policy);
  if (names.empty()) {
    std::memcpy(slot.data(), &kNone, sizeof kNone);
    return Authority{};
  }
  TRY(CertificateAuthority made, CertificateAuthority::create(names, now));
  TRY_DO(keep(slot, made));
  return Authority{std::move(made)};
}

}  // namespace cordon::egress
