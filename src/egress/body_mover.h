// SPDX-License-Identifier: Apache-2.0
// Moves one body from a connection to another: read by its framing, judged, framed anew.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "egress/http_gate.h"
#include "egress/inbox.h"
#include "http/body.h"
#include "http/framing.h"

namespace cordon::egress {

// Why a body did not arrive whole.
struct BodyFault {
  enum class Side : std::uint8_t {
    source,  // it broke off, or is no body
    sink,    // it is not taken
    gate,    // it must not pass
  };
  Side side = Side::source;
  HttpRefusal refusal;
};

// Waits until the budget has `size` bytes, and counts them. Something: it will never have them.
asio::awaitable<std::optional<HttpRefusal>> spend(HttpGate& gate, Direction direction,
                                                  std::uint64_t size);

class BodyMover {
 public:
  // What is gathered before it is written, the piece that passes it not counted.
  static constexpr std::size_t kFlush = std::size_t{16} << 10U;

  BodyMover(Inbox& from, http::Stream& to, HttpGate& gate, Direction direction)
      : from_{from}, to_{to}, gate_{gate}, direction_{direction} {}

  // Writes `first` (a head) and the body, which is framed `in` and will be framed `out`. `scanner`
  // may be null. Nothing: all of it was written.
  asio::awaitable<std::optional<BodyFault>> move(http::Framing in, http::Framing out,
                                                 std::string first,
                                                 std::unique_ptr<HttpScanner> scanner);

  // Bytes written, framing included.
  std::uint64_t moved() const noexcept { return moved_; }

 private:
  std::optional<BodyFault> append(std::string_view data, bool chunked);
  std::optional<BodyFault> append_end(bool chunked);
  asio::awaitable<std::optional<BodyFault>> flush();
  asio::awaitable<std::expected<bool, BodyFault>> fill(const http::BodyReader& reader);
  BodyFault source_fault(const Error& error) const;

  Inbox& from_;
  http::Stream& to_;
  HttpGate& gate_;
  Direction direction_;
  std::unique_ptr<HttpScanner> scanner_;
  std::string out_;
  std::uint64_t moved_ = 0;
};

}  // namespace cordon::egress
