// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/connect.h"

#include <array>

#include "wire/json_writer.h"

namespace cordon::api::e2b {
namespace {

constexpr std::size_t kHead = 5;  // a byte of flags, and the length, the highest byte first
constexpr char kMessage = 0;
constexpr char kEnd = 2;

struct About {
  std::string_view name;
  int status;
};
// As ConnectCode counts.
constexpr std::array<About, 16> kCodes = {{{"canceled", 499},
                                           {"unknown", 500},
                                           {"invalid_argument", 400},
                                           {"deadline_exceeded", 504},
                                           {"not_found", 404},
                                           {"already_exists", 409},
                                           {"permission_denied", 403},
                                           {"resource_exhausted", 429},
                                           {"failed_precondition", 400},
                                           {"aborted", 409},
                                           {"out_of_range", 400},
                                           {"unimplemented", 501},
                                           {"internal", 500},
                                           {"unavailable", 503},
                                           {"data_loss", 500},
                                           {"unauthenticated", 401}}};

const About& about(ConnectCode code) { return kCodes.at(static_cast<std::size_t>(code)); }

std::string envelope(char flags, std::string_view json) {
  std::string out(kHead, flags);
  for (std::size_t at = 1; at < kHead; ++at) {
    out[at] = static_cast<char>(json.size() >> (8 * (kHead - 1 - at)) & 0xffU);
  }
  out += json;
  return out;
}

void write(wire::JsonWriter& json, const ConnectError& error) {
  json.begin_object();
  json.text("code", to_string(error.code));
  json.text("message", error.message);
  json.end_object();
}

}  // namespace

std::string_view to_string(ConnectCode code) noexcept { return about(code).name; }
int status_of(ConnectCode code) noexcept { return about(code).status; }

ConnectError connect_error(const Error& error) {
  constexpr auto code_of = [](Errc code) {
    switch (code) {
      case Errc::invalid:
        return ConnectCode::invalid_argument;
      case Errc::denied:
        return ConnectCode::permission_denied;
      case Errc::not_found:
        return ConnectCode::not_found;
      case Errc::exists:
        return ConnectCode::already_exists;
      case Errc::exhausted:
        return ConnectCode::resource_exhausted;
      case Errc::timeout:
        return ConnectCode::deadline_exceeded;
      case Errc::unavailable:
      case Errc::unrecorded:
        return ConnectCode::unavailable;
      case Errc::internal:
        return ConnectCode::internal;
    }
    return ConnectCode::unknown;
  };
  return {.code = code_of(error.code()), .message = error.text()};
}

std::string to_json(const ConnectError& error) {
  wire::JsonWriter json;
  write(json, error);
  return json.take();
}

std::string message_envelope(std::string_view json) { return envelope(kMessage, json); }
std::string end_envelope() { return envelope(kEnd, "{}"); }

std::string end_envelope(const ConnectError& error) {
  wire::JsonWriter json;
  json.begin_object();
  json.key("error");
  write(json, error);
  json.end_object();
  return envelope(kEnd, json.take());
}

Result<std::string_view> only_message(std::string_view body) {
  if (body.size() < kHead) return Error{Errc::invalid, "an envelope has five bytes in front"};
  if (body[0] != kMessage) return Error{Errc::invalid, "flags of the envelope: none is known here"};
  std::size_t length = 0;
  for (std::size_t at = 1; at < kHead; ++at) {
    length = length << 8U | static_cast<unsigned char>(body[at]);
  }
  if (length != body.size() - kHead) {
    return Error{Errc::invalid, "the envelope has another length than it says"};
  }
  return body.substr(kHead);
}

}  // namespace cordon::api::e2b
