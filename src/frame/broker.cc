// SPDX-License-Identifier: Apache-2.0
#include "frame/broker.h"

#include <algorithm>
#include <cstring>

#include "base/utf8.h"
#include "frame/variant.h"

namespace cordon::frame {
namespace {

// A length stands before the secret, which is the last field.
constexpr std::size_t kLength = sizeof(std::uint32_t);

template <class Message>
concept CarriesValue = requires(Message& m) { m.value; };
template <class Message>
concept CarriesSecret = requires(Message& m) { m.secret; };

template <class Message>
SecretView* secret_of(Message& message) {
  if constexpr (CarriesSecret<Message>) return &message.secret;
  if constexpr (CarriesValue<Message>) return &message.value;
  return nullptr;
}

// Everything but the secret goes through memory that nobody wipes, so the secret is left out of it
// and put behind it.
template <class Variant>
Result<std::span<std::byte>> write_into(std::span<std::byte> memory, Variant message) {
  SecretView* const place = std::visit([](auto& m) { return secret_of(m); }, message);
  const SecretView secret = place == nullptr ? SecretView{} : std::exchange(*place, SecretView{});
  const std::vector<std::byte> head = encode_variant(message);
  const std::size_t size = head.size() + secret.bytes.size();
  if (size > memory.size()) return Error{Errc::exhausted, "a message longer than its memory"};
  std::ranges::copy(head, memory.begin());
  if (place != nullptr && !secret.bytes.empty()) {
    const auto length = static_cast<std::uint32_t>(secret.bytes.size());
    std::memcpy(memory.data() + head.size() - kLength, &length, kLength);
    std::memcpy(memory.data() + head.size(), secret.bytes.data(), secret.bytes.size());
  }
  return memory.first(size);
}

// What has no place in a text of ours: it could end a line of a log or a header.
bool is_clean(std::string_view text, std::size_t longest) {
  return text.size() <= longest && is_utf8(text) && std::ranges::all_of(text, [](char c) {
           return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F;
         });
}

class Bounds {
 public:
  template <Travels T>
  bool hold(const T& message) {
    return std::apply([this](const auto&... each) { return (this->hold(each) && ...); },
                      T::fields(message));
  }
  bool hold(const std::string& text) { return is_clean(text, kLongestBrokerPath); }
  bool hold(const std::vector<std::string>& texts) {
    return texts.size() <= kMostBrokerItems && std::ranges::all_of(texts, [](const auto& t) {
             return is_clean(t, kLongestBrokerText);
           });
  }
  bool hold(const SecretView& secret) { return secret.bytes.size() <= kLongestSecret; }
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  bool hold(T) {
    return true;
  }
  bool hold(const std::optional<std::uint32_t>&) { return true; }
};

// Only paths are long.
template <class Message>
bool has_short_names(const Message& message) {
  const auto is_short = [](const std::string& text) { return text.size() <= kLongestBrokerText; };
  if constexpr (requires { message.sandbox; }) {
    if (!is_short(message.sandbox)) return false;
  }
  if constexpr (requires { message.grant; }) {
    if (!is_short(message.grant)) return false;
  }
  if constexpr (requires { message.tenant; }) {
    if (!is_short(message.tenant)) return false;
  }
  if constexpr (requires { message.name; }) {
    if (!is_short(message.name)) return false;
  }
  if constexpr (requires { message.stored; }) {
    if (!is_short(message.stored)) return false;
  }
  if constexpr (requires { message.host; }) {
    if (!is_short(message.host)) return false;
  }
  if constexpr (requires { message.header; }) {
    if (!is_short(message.header)) return false;
  }
  return true;
}

bool is_sound(const auto&) { return true; }
bool is_sound(const RevokeGrants& message) {
  if (!message.grant.empty() && message.sandbox.empty()) return false;
  return !message.sandbox.empty() || !message.tenant.empty();
}
// It comes from one place.
bool is_sound(const BindGrant& message) {
  const int places = (message.stored.empty() ? 0 : 1) + (message.ticket == 0 ? 0 : 1) +
                     (message.secret.bytes.empty() ? 0 : 1);
  return places <= 1;
}
bool is_sound(const SourceTask& message) { return message.ticket != 0 && !message.host.empty(); }
bool is_sound(const SourceRead& message) {
  return message.ticket != 0 && !message.host.empty() && !message.secret.bytes.empty();
}
bool is_sound(const SourceFailed& message) { return message.ticket != 0; }
bool is_sound(const SecretGiven& message) {
  const std::size_t size = message.value.bytes.size();
  return message.secret_size > 0 && message.secret_offset <= size &&
         message.secret_size <= size - message.secret_offset;
}
bool is_sound(const NoSecret& message) { return message.code != SecretVerdict::given; }

template <class Variant>
Result<Variant> read(std::span<const std::byte> bytes) {
  if (bytes.size() > kLongestBrokerMessage) {
    return Error{Errc::invalid, "a message longer than any of ours"};
  }
  TRY(Variant message, decode_variant<Variant>(bytes));
  const bool good = std::visit(
      [](const auto& m) { return Bounds{}.hold(m) && has_short_names(m) && is_sound(m); }, message);
  if (!good) return Error{Errc::invalid, "a message out of its bounds"};
  return message;
}

}  // namespace

bool operator==(SecretView one, SecretView two) noexcept {
  return std::ranges::equal(one.bytes, two.bytes);
}

std::string_view to_string(SecretVerdict verdict) noexcept {
  switch (verdict) {
    case SecretVerdict::given:
      return "given";
    case SecretVerdict::cred_unknown:
      return "cred_unknown";
    case SecretVerdict::cred_scope:
      return "cred_scope";
    case SecretVerdict::cred_expired:
      return "cred_expired";
    case SecretVerdict::cred_revoked:
      return "cred_revoked";
    case SecretVerdict::cred_rate:
      return "cred_rate";
    case SecretVerdict::cred_unrecorded:
      return "cred_unrecorded";
  }
  return "cred_unknown";
}

std::vector<std::byte> encode(const BrokerToOwner& message) { return encode_variant(message); }
std::vector<std::byte> encode(const EgressToBroker& message) { return encode_variant(message); }
std::vector<std::byte> encode(const LauncherToSource& message) { return encode_variant(message); }

Result<std::span<std::byte>> encode_into(std::span<std::byte> memory,
                                         const OwnerToBroker& message) {
  return write_into(memory, message);
}
Result<std::span<std::byte>> encode_into(std::span<std::byte> memory,
                                         const BrokerToEgress& message) {
  return write_into(memory, message);
}
Result<std::span<std::byte>> encode_into(std::span<std::byte> memory,
                                         const SourceToBroker& message) {
  return write_into(memory, message);
}

Result<OwnerToBroker> decode_owner_to_broker(std::span<const std::byte> bytes) {
  return read<OwnerToBroker>(bytes);
}
Result<BrokerToOwner> decode_broker_to_owner(std::span<const std::byte> bytes) {
  return read<BrokerToOwner>(bytes);
}
Result<EgressToBroker> decode_egress_to_broker(std::span<const std::byte> bytes) {
  return read<EgressToBroker>(bytes);
}
Result<BrokerToEgress> decode_broker_to_egress(std::span<const std::byte> bytes) {
  return read<BrokerToEgress>(bytes);
}
Result<LauncherToSource> decode_launcher_to_source(std::span<const std::byte> bytes) {
  return read<LauncherToSource>(bytes);
}
Result<SourceToBroker> decode_source_to_broker(std::span<const std::byte> bytes) {
  return read<SourceToBroker>(bytes);
}

}  // namespace cordon::frame
