// SPDX-License-Identifier: Apache-2.0
// What cordon-notary hears and says: one message each over a SOCK_SEQPACKET socket.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "frame/fields.h"

namespace cordon::frame {

inline constexpr std::size_t kLongestNotaryMessage = std::size_t{16} << 10U;

// --- to the notary

// The records [begin, end) of a log, by the largest whole subtrees that they are: to be signed
// together with all before them. `begin` is where the last head of this log ended, or 0 for a log
// that the notary has not met. Answered by HeadSigned or NotSigned.
struct SignHead {
  std::string log;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string hashes;  // 32 bytes each, from left to right
  CORDON_FIELDS(SignHead, self.log, self.begin, self.end, self.hashes);
};

// --- from the notary

// Its first word: what it signed last.
struct NotaryReady {
  std::string log;  // empty: nothing yet
  std::uint64_t size = 0;
  CORDON_FIELDS(NotaryReady, self.log, self.size);
};

struct HeadSigned {
  std::string head;  // a line of audit/head.h
  CORDON_FIELDS(HeadSigned, self.head);
};

// Nothing was signed.
struct NotSigned {
  std::string text;
  CORDON_FIELDS(NotSigned, self.text);
};

using ToNotary = std::variant<SignHead>;
using FromNotary = std::variant<NotaryReady, HeadSigned, NotSigned>;

std::vector<std::byte> encode(const ToNotary& message);
std::vector<std::byte> encode(const FromNotary& message);
Result<ToNotary> decode_to_notary(std::span<const std::byte> bytes);
Result<FromNotary> decode_from_notary(std::span<const std::byte> bytes);

}  // namespace cordon::frame
