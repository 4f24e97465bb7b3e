// SPDX-License-Identifier: Apache-2.0
// Any bytes as a chunked body: however they are cut they read the same; what is accepted, forgiving
// servers read as we do; and what is written is read again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/chunked.h"
#include "http/lenient_reader_test.h"
#include "promise.h"

namespace {

using cordon::fuzz::broken;

namespace http = cordon::http;

struct Read {
  std::string data{};
  std::size_t consumed = 0;
  bool done = false;
  std::string refusal{};

  friend bool operator==(const Read&, const Read&) = default;
};

Read read(std::string_view bytes, std::size_t piece) {
  http::ChunkedReader reader;
  Read result;
  while (!bytes.empty() && !reader.done()) {
    const auto part = bytes.substr(0, piece);
    const auto next = reader.next(part);
    if (!next) {
      result.refusal = next.error().text();
      return result;
    }
    if (next->consumed == 0 || next->consumed > part.size()) broken("a body is read on");
    const auto* const data = next->data.data();
    if (!next->data.empty() &&
        (data < part.data() || data + next->data.size() > part.data() + next->consumed))
      broken("data is part of what was read");
    result.data += next->data;
    result.consumed += next->consumed;
    bytes.remove_prefix(next->consumed);
  }
  result.done = reader.done();
  return result;
}

// `consumed` may differ by where the pieces end when the body is refused.
bool alike(Read a, const Read& b) {
  if (!a.refusal.empty()) a.consumed = b.consumed;
  return a == b;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};

  const Read whole = read(bytes, bytes.size());
  if (!alike(read(bytes, 1), whole) || !alike(read(bytes, std::size_t{1} + data[0]), whole))
    broken("a cut changes nothing");

  if (whole.done) {
    std::string stream = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream += bytes.substr(0, whole.consumed);
    const auto messages = http::read_leniently(stream, http::Believes::coding);
    if (messages.size() != 1 || messages[0].body != whole.data)
      broken("every server reads the same body");
  }

  std::string written;
  const std::size_t piece = std::size_t{1} + data[0];
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    http::append_chunk(written, bytes.substr(at, piece));
  written += http::kLastChunk;
  const Read again = read(written, written.size());
  if (!again.done || again.data != bytes || again.consumed != written.size())
    broken("what was written can be read");
  return 0;
}
