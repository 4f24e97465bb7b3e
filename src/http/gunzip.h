// SPDX-License-Identifier: Apache-2.0
// A body in gzip's coding (RFC 1952), unpacked as it comes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::http {

// Holds no more of what it unpacks than one piece: how much comes of a few bytes is for who takes
// it to bound.
class Gunzip {
 public:
  Gunzip();
  Gunzip(Gunzip&&) noexcept;
  ~Gunzip();

  // Before: next() has given nothing. `bytes` stay where they are until it gives nothing again.
  void push(std::string_view bytes);
  // The next piece of what was packed, never empty, until the next call; empty: more bytes are
  // needed. `invalid`: it is no gzip, or is damaged.
  Result<std::string_view> next();
  // Whether all that was begun has its end, with its check sum.
  bool is_whole() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cordon::http
