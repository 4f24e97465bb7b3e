// SPDX-License-Identifier: Apache-2.0
// Bytes into heads, strictly: each message has one reading or is refused.
//
// A refusal names the rule and the byte (refusal.h), is the same however the bytes were cut into
// pieces, and ends the connection: where the message would have ended is not known.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "http/head.h"
#include "http/line_cutter.h"

namespace cordon::http {

struct RequestRules {
  HeadLimits limits{};
  bool connect = false;  // whether CONNECT is read at all; TRACE and TRACK never are

  friend bool operator==(const RequestRules&, const RequestRules&) = default;
};

struct Fed {
  std::size_t consumed = 0;  // all, unless the head is done: the rest is body
  bool done = false;
};

// Reads one head; the next one on the connection needs a new reader.
class RequestReader {
 public:
  explicit RequestReader(RequestRules rules = {}) : rules_{rules} {}

  // Before: no call said done or refused.
  Result<Fed> feed(std::string_view bytes);

  // Before: a call said done. Once.
  RequestHead take() { return std::move(head_); }

 private:
  Status read_first(const Line& line);
  Status read_field(const Line& line);
  Status read_host(const struct FieldView& field);
  Status finish(const Line& line) const;

  RequestRules rules_;
  LineCutter lines_{"head", rules_.limits.bytes};
  RequestHead head_;
  bool is_begun_ = false;
  bool is_over_ = false;  // done or refused
  bool has_host_ = false;
};

// Reads one head, also an interim one: after those of status 100 to 199 but 101 another follows.
class ResponseReader {
 public:
  explicit ResponseReader(HeadLimits limits = {}) : limits_{limits} {}

  // Before: no call said done or refused.
  Result<Fed> feed(std::string_view bytes);

  // Before: a call said done. Once.
  ResponseHead take() { return std::move(head_); }

 private:
  Status read_first(const Line& line);
  Status read_field(const Line& line);

  HeadLimits limits_;
  LineCutter lines_{"head", limits_.bytes};
  ResponseHead head_;
  bool is_begun_ = false;
  bool is_over_ = false;  // done or refused
};

}  // namespace cordon::http
