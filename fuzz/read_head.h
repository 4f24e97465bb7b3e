// SPDX-License-Identifier: Apache-2.0
// A head of HTTP as it reads when its bytes come in pieces of one size.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "promise.h"

namespace cordon::fuzz {

template <class Head>
struct ReadHead {
  Head head{};
  std::size_t consumed = 0;
  bool done = false;
  std::string refusal{};

  friend bool operator==(const ReadHead&, const ReadHead&) = default;
};

template <class Head, class Reader>
ReadHead<Head> read_head(Reader reader, std::string_view bytes, std::size_t piece) {
  ReadHead<Head> result;
  while (!bytes.empty() && !result.done) {
    const auto part = bytes.substr(0, piece);
    const auto fed = reader.feed(part);
    if (!fed) return {.refusal = fed.error().text()};
    if (!fed->done && fed->consumed != part.size()) broken("all is taken until a head is done");
    result.consumed += fed->consumed;
    result.done = fed->done;
    bytes.remove_prefix(fed->consumed);
  }
  if (result.done) result.head = reader.take();
  return result;
}

}  // namespace cordon::fuzz
