// SPDX-License-Identifier: Apache-2.0
// What stands before a body, as values: nothing in them can be read in two ways.
//
// The fields that decide where a message goes and where it ends are no members of `fields`: Host
// has become `host`; Content-Length and Transfer-Encoding have become `announced`. They are written
// anew (serialise.h), never copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/authority.h"

namespace cordon::http {

enum class Version : std::uint8_t { http10, http11 };

struct Field {
  std::string name;   // a token, as the sender spelt it
  std::string value;  // without spaces around it

  friend bool operator==(const Field&, const Field&) = default;
};
using Fields = std::vector<Field>;  // in the order sent

// Names are found whatever their case.
std::size_t count(const Fields& fields, std::string_view name) noexcept;
// The value of the only field of this name; nothing when there is none or more than one.
std::optional<std::string_view> only(const Fields& fields, std::string_view name) noexcept;
// Removes also what servers may read as `name`: `-`, `_` and `.` are one. For credentials.
void remove_all_spellings(Fields& fields, std::string_view name);
// Those whose names begin so, the same.
void remove_all_that_begin(Fields& fields, std::string_view beginning);

enum class TargetKind : std::uint8_t {
  origin,     // "/path?query"
  absolute,   // "http://host/path?query"
  authority,  // "host:port", of CONNECT only
  asterisk,   // "*", of OPTIONS only
};
enum class Scheme : std::uint8_t { http, https };

struct Target {
  TargetKind kind = TargetKind::origin;
  Scheme scheme = Scheme::http;        // of an absolute target
  Authority authority{};               // of an absolute one and of CONNECT
  std::string path = "/";              // as sent, escapes and all; begins with a slash, has no
                                       // `.` or `..` segment in any spelling; else empty
  std::optional<std::string> query{};  // what follows the question mark

  friend bool operator==(const Target&, const Target&) = default;
};
std::string to_string(const Target& target);

// What a message says of its body. At most one of the two; where the body ends follows from more
// than this (framing.h).
struct Announced {
  std::optional<std::uint64_t> length;
  bool chunked = false;

  friend bool operator==(const Announced&, const Announced&) = default;
};

struct RequestHead {
  std::string method;
  Target target;
  Version version = Version::http11;
  Authority host;  // agrees with an absolute target and with that of CONNECT
  Announced announced{};
  Fields fields{};

  friend bool operator==(const RequestHead&, const RequestHead&) = default;
};

// The reason phrase is not kept: nothing depends on it, and it would be one more text from outside
// that a model reads.
struct ResponseHead {
  int status = 200;  // 100 to 599
  Version version = Version::http11;
  Announced announced{};
  Fields fields{};

  friend bool operator==(const ResponseHead&, const ResponseHead&) = default;
};

struct HeadLimits {
  std::size_t bytes = std::size_t{64} << 10U;  // of the whole head, its last line included
  std::size_t fields = 200;
  std::size_t target = std::size_t{16} << 10U;

  friend bool operator==(const HeadLimits&, const HeadLimits&) = default;
};

}  // namespace cordon::http
