// SPDX-License-Identifier: Apache-2.0
#include "egress/piece_scanner.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "egress/openssl.h"

namespace cordon::egress {

HttpRefusal secret_refusal(const Finding& finding, Direction direction) {
  const bool out = direction == Direction::out;
  return {.status = out ? 403 : 502,
          .code = "secret_violation",
          .text = fmt::format("{} {} ({}); it was stopped. Do not retry.",
                              out ? "the request carries" : "the answer shows", finding.name,
                              to_string(finding.form))};
}

// What is kept back may be half of a secret.
PieceScanner::~PieceScanner() { wipe(kept_); }

Judged<std::string> PieceScanner::push(std::string_view piece) {
  if (const auto& found = scan_.push(as_bytes(piece))) {
    return std::unexpected{secret_refusal(*found, direction_)};
  }
  kept_ += piece;
  const std::size_t free = kept_.size() - std::min(scan_.withheld(), kept_.size());
  std::string passed = kept_.substr(0, free);
  kept_.erase(0, free);
  return passed;
}

Judged<std::string> PieceScanner::finish() { return std::exchange(kept_, {}); }

}  // namespace cordon::egress
