// SPDX-License-Identifier: Apache-2.0
// Any bytes as what a client sends: however they are cut they read the same, what is accepted is
// written in one form that reads the same, and no server, however forgiving, finds other requests
// in it than we did.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/connection.h"
#include "http/forward_test.h"
#include "http/framing.h"
#include "http/lenient_reader_test.h"
#include "http/parse_head.h"
#include "http/serialise.h"
#include "http/upgrade.h"
#include "read_head.h"

namespace {

using cordon::fuzz::broken;

namespace http = cordon::http;

using Read = cordon::fuzz::ReadHead<http::RequestHead>;

Read read(std::string_view bytes, std::size_t piece, http::HeadLimits limits = {}) {
  return cordon::fuzz::read_head<http::RequestHead>(
      http::RequestReader{{.limits = limits, .connect = true}}, bytes, piece);
}

void check_values(const http::RequestHead& head) {
  for (const auto& field : head.fields) {
    for (const char c : field.name + field.value) {
      if ((c < ' ' && c != '\t') || c == 0x7F) broken("fields are printing ASCII");
    }
  }
  for (const char c : head.method + to_string(head.target) + to_string(head.host)) {
    if (c <= ' ' || c >= 0x7F) broken("a request line has two spaces");
  }
  if (head.host.host.empty()) broken("a request names its host");
  if (head.announced.chunked && head.announced.length) broken("a body ends in one way");
}

void write_again(http::RequestHead head) {
  const auto framing = framing_of(head);
  const auto text = serialise(head, framing);
  if (!text) broken("what was read can be written");
  Read again = read(*text, text->size(), http::kWritten);
  if (!again.done || again.consumed != text->size()) broken("what was written can be read");
  const auto twice = serialise(again.head, framing_of(again.head));
  if (!twice || *twice != *text) broken("there is one form");
  strip_hop_by_hop(head.fields);
  strip_hop_by_hop(again.head.fields);
  if (again.head != head) broken("what was written reads as what was read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};

  const Read whole = read(bytes, bytes.size());
  if (read(bytes, 1) != whole || read(bytes, std::size_t{1} + data[0]) != whole)
    broken("a cut changes nothing");
  if (whole.done) {
    check_values(whole.head);
    write_again(whole.head);
    if (check_handshake(whole.head) && !asks_upgrade(whole.head)) broken("a handshake asks");
  }

  const http::Forwarded forwarded = http::forward(bytes);
  for (const auto believes : {http::Believes::length, http::Believes::coding}) {
    if (http::read_leniently(forwarded.bytes, believes) != forwarded.messages)
      broken("every server reads the same requests");
  }
  return 0;
}
