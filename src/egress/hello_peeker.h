// SPDX-License-Identifier: Apache-2.0
// Finds the ClientHello at the front of a stream, however its bytes arrive and however many records
// it is spread over.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "egress/client_hello.h"

namespace cordon::egress {

class HelloPeeker {
 public:
  // Up to the end of the hello, headers of records included. Hellos of today's clients have 200 to
  // 2,000 bytes.
  static constexpr std::size_t kMostBytes = 16384;

  struct NeedsMore {
    friend bool operator==(const NeedsMore&, const NeedsMore&) = default;
  };
  using Verdict = std::variant<NeedsMore, ClientHello, HelloRefusal>;

  // The next bytes of the client. They stay the caller's, who sends them on unchanged or not at
  // all. A verdict other than NeedsMore is final, depends only on the bytes and not on how they
  // were cut, and comes with the first byte that decides it.
  const Verdict& push(std::span<const std::byte> piece);

  // How many bytes of the stream the hello takes. Before: the verdict is a hello.
  std::size_t size() const noexcept { return seen_; }

 private:
  void take_header(std::byte next);
  void take_fragment();
  void refuse(HelloFault fault, std::string why);

  std::array<std::byte, 5> header_{};
  std::size_t header_size_ = 0;
  std::size_t left_ = 0;  // of the record
  std::size_t seen_ = 0;  // up to the end of the record, once its header is whole
  std::vector<std::byte> message_;
  Verdict verdict_;
};

}  // namespace cordon::egress
