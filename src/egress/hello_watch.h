// SPDX-License-Identifier: Apache-2.0
// Follows a TLS connection from the first hello to the server's answer. A server may ask for a
// second hello (HelloRetryRequest), and many take the name from that one: it is judged like the
// first.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "egress/client_hello.h"
#include "egress/hello_peeker.h"

namespace cordon::egress {

// Cuts one direction of a connection into records.
class TlsRecords {
 public:
  struct Part {
    std::span<const std::byte> header;   // of the record, five bytes
    std::span<const std::byte> payload;  // empty: the record begins here
  };
  // Takes the next part from the front of `piece`; nothing: it is used up. The part holds until the
  // next call.
  std::optional<Part> next(std::span<const std::byte>& piece);

 private:
  std::array<std::byte, 5> header_{};
  std::size_t header_size_ = 0;
  std::size_t left_ = 0;
};

class HelloWatch {
 public:
  // `name`: what the first hello was judged by. The watch begins behind that hello.
  explicit HelloWatch(std::string name) : name_{std::move(name)} {}

  // Each piece before it is passed on. A refusal is for good: neither this piece nor any other is
  // passed on. Pieces may be cut anywhere.
  std::optional<HelloRefusal> from_client(std::span<const std::byte> piece);
  void from_server(std::span<const std::byte> piece);

  // No further hello can come in clear: the rest may pass unseen.
  bool is_over() const noexcept { return over_; }

 private:
  std::optional<HelloRefusal> judge(const TlsRecords::Part& part);

  std::string name_;
  bool over_ = false;
  TlsRecords client_, server_;
  HelloPeeker second_;
  std::optional<HelloRefusal> refused_;
  std::vector<std::byte> answer_;  // the first bytes of the server's first message
};

}  // namespace cordon::egress
