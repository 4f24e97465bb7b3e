// SPDX-License-Identifier: Apache-2.0
// What cordon-keeper hears and says: one message each over a SOCK_SEQPACKET socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "frame/fields.h"
#include "frame/oci.h"

namespace cordon::frame {

inline constexpr std::size_t kLongestKeeperMessage = std::size_t{128} << 10U;

// A node's own images bear such names, and no others can be made, changed or taken away by it.
inline constexpr std::string_view kNodeImages = "node.";

// --- to the keeper

// An image of one layer: the archive that comes out of the descriptor beside it, to its end.
// Answered by ImageKept or NotKept.
struct KeepImage {
  std::string name;
  std::string source;  // told of it, and kept with it
  OciConfig config;
  CORDON_FIELDS(KeepImage, self.name, self.source, self.config);
};

// Another source for an image that is there. Answered by ImageKept or NotKept.
struct RelabelImage {
  std::string name;
  std::string source;
  CORDON_FIELDS(RelabelImage, self.name, self.source);
};

// It is no more. Answered by ImageKept or NotKept.
struct ForgetImage {
  std::string name;
  CORDON_FIELDS(ForgetImage, self.name);
};

// --- from the keeper

struct ImageKept {
  std::string digest;
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
  CORDON_FIELDS(ImageKept, self.digest, self.bytes, self.entries);
};

// Nothing was changed.
struct NotKept {
  std::string text;
  CORDON_FIELDS(NotKept, self.text);
};

using ToKeeper = std::variant<KeepImage, RelabelImage, ForgetImage>;
using FromKeeper = std::variant<ImageKept, NotKept>;

std::vector<std::byte> encode(const ToKeeper& message);
std::vector<std::byte> encode(const FromKeeper& message);
Result<ToKeeper> decode_to_keeper(std::span<const std::byte> bytes);
Result<FromKeeper> decode_from_keeper(std::span<const std::byte> bytes);

}  // namespace cordon::frame
