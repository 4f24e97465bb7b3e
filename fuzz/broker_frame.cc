// SPDX-License-Identifier: Apache-2.0
// Any bytes as messages of the broker's sockets, in every direction: they are refused, or they are
// exactly what the codec writes, within its bounds, and a secret lies inside of them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "frame/broker.h"
#include "promise.h"

namespace {

using cordon::fuzz::broken;

namespace frame = cordon::frame;

// Used again for each input: it is large.
std::vector<std::byte>& memory() {
  static std::vector<std::byte> bytes(frame::kLongestBrokerMessage);
  return bytes;
}

void same(std::span<const std::byte> written, std::span<const std::byte> read) {
  if (!std::ranges::equal(written, read)) broken("a message is written as it was read");
}

void inside(const frame::SecretView& secret, std::span<const std::byte> bytes) {
  if (secret.bytes.size() > frame::kLongestSecret) broken("a secret within its bounds");
  if (secret.bytes.empty()) return;
  if (secret.bytes.data() < bytes.data() ||
      secret.bytes.data() + secret.bytes.size() != bytes.data() + bytes.size()) {
    broken("a secret lies at the end of its message");
  }
}

template <class Decoded>
void write_again_into(const Decoded& decoded, std::span<const std::byte> bytes) {
  if (!decoded) return;
  const auto written = frame::encode_into(memory(), *decoded);
  if (!written) broken("what was read can be written");
  same(*written, bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  const auto owner = frame::decode_owner_to_broker(bytes);
  write_again_into(owner, bytes);
  if (owner) {
    if (const auto* bind = std::get_if<frame::BindGrant>(&*owner)) inside(bind->secret, bytes);
  }
  const auto told = frame::decode_broker_to_egress(bytes);
  write_again_into(told, bytes);
  if (told) {
    if (const auto* given = std::get_if<frame::SecretGiven>(&*told)) {
      inside(given->value, bytes);
      if (std::size_t{given->secret_offset} + given->secret_size > given->value.bytes.size()) {
        broken("the secret lies in its value");
      }
    }
  }
  const auto source = frame::decode_source_to_broker(bytes);
  write_again_into(source, bytes);
  if (source) {
    if (const auto* read = std::get_if<frame::SourceRead>(&*source)) inside(read->secret, bytes);
  }
  if (const auto task = frame::decode_launcher_to_source(bytes)) same(frame::encode(*task), bytes);
  if (const auto asked = frame::decode_egress_to_broker(bytes)) same(frame::encode(*asked), bytes);
  if (const auto heard = frame::decode_broker_to_owner(bytes)) same(frame::encode(*heard), bytes);
  return 0;
}
