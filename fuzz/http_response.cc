// SPDX-License-Identifier: Apache-2.0
// Any bytes as what a server answers: however they are cut they read the same, the body ends in one
// way, and what is accepted is written in one form that reads the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/body.h"
#include "http/connection.h"
#include "http/framing.h"
#include "http/parse_head.h"
#include "http/serialise.h"
#include "read_head.h"

namespace {

using cordon::fuzz::broken;

namespace http = cordon::http;
using Kind = http::Framing::Kind;

using Read = cordon::fuzz::ReadHead<http::ResponseHead>;

Read read(std::string_view bytes, std::size_t piece, http::HeadLimits limits = {}) {
  return cordon::fuzz::read_head<http::ResponseHead>(http::ResponseReader{limits}, bytes, piece);
}

void check_body(const http::Framing& framing, std::string_view rest) {
  http::BodyReader reader{framing};
  while (!rest.empty() && !reader.done()) {
    const auto piece = reader.next(rest);
    if (!piece) return;
    if (piece->consumed == 0 || piece->consumed > rest.size()) broken("a body is read on");
    if (piece->data.size() > piece->consumed) broken("data is part of what was read");
    rest.remove_prefix(piece->consumed);
  }
}

void write_again(http::ResponseHead head, const http::Framing& framing) {
  const auto after = head.status == 101 ? http::After::upgrade : http::After::keep;
  const auto text = serialise(head, framing, after);
  if (!text) broken("what was read can be written");
  Read again = read(*text, text->size(), http::kWritten);
  if (!again.done || again.consumed != text->size()) broken("what was written can be read");
  const auto twice = serialise(again.head, framing, after);
  if (!twice || *twice != *text) broken("there is one form");
  strip_hop_by_hop(head.fields);
  strip_hop_by_hop(again.head.fields);
  // Where no body follows, nothing is said of one that a reader could believe.
  if (framing.kind == Kind::none || framing.kind == Kind::tunnel) head.announced = {};
  if (again.head != head) broken("what was written reads as what was read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};

  const Read whole = read(bytes, bytes.size());
  if (read(bytes, 1) != whole || read(bytes, std::size_t{1} + data[0]) != whole)
    broken("a cut changes nothing");
  if (!whole.done) return 0;
  if (whole.head.announced.chunked && whole.head.announced.length) broken("a body ends in one way");

  for (const http::Asked asked : {http::Asked{"GET"}, http::Asked{"HEAD"}, http::Asked{"CONNECT"},
                                  http::Asked{"GET", true}}) {
    const auto framing = framing_of(whole.head, asked);
    if (!framing) continue;
    const bool bare = asked.method == "HEAD" || whole.head.status < 200 ||
                      whole.head.status == 204 || whole.head.status == 304;
    if (bare && !http::BodyReader{*framing}.done()) broken("some answers have no body");
    check_body(*framing, bytes.substr(whole.consumed));
    write_again(whole.head, *framing);
  }
  return 0;
}
