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
  std::optional<HelloRefusal> begin_record();
  std::optional<HelloRefusal> judge(std::span<const std::byte> part);

  std::string name_;
  bool over_ = false;
  // The client's record: its header, how much of it is left, whether it belongs to a second hello.
  std::array<std::byte, 5> header_{};
  std::size_t header_size_ = 0;
  std::size_t left_ = 0;
  std::optional<HelloPeeker> second_;
  std::optional<HelloRefusal> refused_;
  std::vector<std::byte> answer_;  // the first bytes of the server's
};

}  // namespace cordon::egress
