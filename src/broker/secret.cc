// SPDX-License-Identifier: Apache-2.0
#include "broker/secret.h"

#include <algorithm>

#include "base/bytes.h"
#include "frame/broker.h"
#include "policy/header_template.h"

namespace cordon::broker {
namespace {

// What RFC 9110 lets stand in a field's value.
bool is_field_byte(std::byte byte) {
  const auto c = std::to_integer<unsigned>(byte);
  return c == '\t' || (c >= 0x20 && c != 0x7F);
}

std::size_t slots_in(std::string_view value) {
  std::size_t count = 0;
  for (auto at = value.find(policy::kSecretSlot); at != std::string_view::npos;
       at = value.find(policy::kSecretSlot, at + policy::kSecretSlot.size())) {
    ++count;
  }
  return count;
}

}  // namespace

Result<Secret> Secret::create(std::string_view value, std::span<const std::byte> secret) {
  if (secret.empty()) return Error{Errc::invalid, "the secret is empty"};
  if (!std::ranges::all_of(secret, is_field_byte) ||
      !std::ranges::all_of(as_bytes(value), is_field_byte)) {
    return Error{Errc::invalid, "the secret has characters that no header may have"};
  }
  const std::size_t slots = slots_in(value);
  if (slots == 0) return Error{Errc::invalid, "the header has no place for the secret"};
  const std::size_t size =
      value.size() - slots * policy::kSecretSlot.size() + slots * secret.size();
  if (size > frame::kLongestHeaderValue) return Error{Errc::invalid, "the secret is too long"};

  TRY(os::LockedMemory memory, os::LockedMemory::create(size));
  const std::size_t first = value.find(policy::kSecretSlot);
  auto out = memory.bytes().begin();
  while (!value.empty()) {
    const auto slot = value.find(policy::kSecretSlot);
    out = std::ranges::copy(as_bytes(value.substr(0, slot)), out).out;
    if (slot == std::string_view::npos) break;
    out = std::ranges::copy(secret, out).out;
    value.remove_prefix(slot + policy::kSecretSlot.size());
  }
  return Secret{std::move(memory), first, secret.size()};
}

}  // namespace cordon::broker
