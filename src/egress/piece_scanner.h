// SPDX-License-Identifier: Apache-2.0
// A secret scan over a body as it passes: what may be the beginning of a secret waits.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "egress/http_gate.h"
#include "egress/secret_scan.h"

namespace cordon::egress {

// Of something that was found, for the client and the record. Never what was found.
HttpRefusal secret_refusal(const Finding& finding, Direction direction);

class PieceScanner final : public HttpScanner {
 public:
  // The sets outlive it.
  PieceScanner(Direction direction, SecretScan::Keys keys, std::span<const SentinelSet* const> sets)
      : direction_{direction}, scan_{keys, sets} {}
  ~PieceScanner() override;
  PieceScanner(const PieceScanner&) = delete;
  PieceScanner& operator=(const PieceScanner&) = delete;

  Judged<std::string> push(std::string_view piece) override;
  Judged<std::string> finish() override;

 private:
  Direction direction_;
  SecretScan scan_;
  std::string kept_;
};

}  // namespace cordon::egress
