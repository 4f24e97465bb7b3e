// SPDX-License-Identifier: Apache-2.0
// The whole way of a connection through the codec: read, decide nothing, write again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/body.h"
#include "http/chunked.h"
#include "http/framing.h"
#include "http/lenient_reader_test.h"
#include "http/parse_head.h"
#include "http/serialise.h"
#include "http/target.h"

namespace cordon::http {

struct Forwarded {
  std::vector<LenientMessage> messages;  // whole ones, with the first line as it was written
  std::string bytes;                     // what the server gets for them
  std::string refusal;                   // why no more is read; "more" when the stream ends early
};

// The body at the front of `stream`, taken from it. Empty optional text: `refusal` says why.
inline bool read_body(BodyReader& reader, std::string_view& stream, std::string& body,
                      std::string& refusal) {
  while (!reader.done()) {
    if (stream.empty()) {
      refusal = "more";
      return false;
    }
    const auto piece = reader.next(stream);
    if (!piece) {
      refusal = piece.error().text();
      return false;
    }
    body += piece->data;
    stream.remove_prefix(piece->consumed);
  }
  return true;
}

inline Forwarded forward(std::string_view stream) {
  Forwarded forwarded;
  while (!stream.empty()) {
    RequestReader reader;
    const auto fed = reader.feed(stream);
    if (!fed || !fed->done) {
      forwarded.refusal = fed ? "more" : fed.error().text();
      break;
    }
    stream.remove_prefix(fed->consumed);
    const RequestHead head = in_origin_form(reader.take());
    const Framing framing = framing_of(head);
    BodyReader body_reader{framing};
    std::string body;
    if (!read_body(body_reader, stream, body, forwarded.refusal)) break;
    const auto text = serialise(head, framing);
    if (!text) {
      forwarded.refusal = text.error().text();
      break;
    }
    forwarded.messages.push_back({.first_line = text->substr(0, text->find('\r')), .body = body});
    forwarded.bytes += *text;
    if (framing.kind == Framing::Kind::chunked) {
      append_chunk(forwarded.bytes, body);
      forwarded.bytes += kLastChunk;
    } else {
      forwarded.bytes += body;
    }
  }
  return forwarded;
}

}  // namespace cordon::http
