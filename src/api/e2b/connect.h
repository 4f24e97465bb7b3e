// SPDX-License-Identifier: Apache-2.0
// The Connect protocol with its JSON codec, as clients of a sandbox's own services speak it: codes
// of errors, and the envelopes of a stream. (pure)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::api::e2b {

enum class ConnectCode : std::uint8_t {
  canceled,
  unknown,
  invalid_argument,
  deadline_exceeded,
  not_found,
  already_exists,
  permission_denied,
  resource_exhausted,
  failed_precondition,
  aborted,
  out_of_range,
  unimplemented,
  internal,
  unavailable,
  data_loss,
  unauthenticated,
};

struct ConnectError {
  ConnectCode code = ConnectCode::unknown;
  std::string message;
};

std::string_view to_string(ConnectCode code) noexcept;
// Of a call that is answered once; a stream's own status is 200 whatever becomes of it.
int status_of(ConnectCode code) noexcept;
ConnectError connect_error(const Error& error);
// The body of an answer.
std::string to_json(const ConnectError& error);

// One message of a stream, and its end: exactly one, the last. `json`: no more than 4 GiB.
std::string message_envelope(std::string_view json);
std::string end_envelope();
std::string end_envelope(const ConnectError& error);

// The message of a body that holds one and nothing else. `invalid`: it does not, or is compressed.
Result<std::string_view> only_message(std::string_view body);

}  // namespace cordon::api::e2b
