// SPDX-License-Identifier: Apache-2.0
#include "http/server_answer.h"

#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "http/reason.h"

namespace cordon::http {
namespace {

constexpr std::string_view kProblemType = "application/problem+json";

}  // namespace

std::string_view problem_code(int status) noexcept {
  switch (status) {
    case 400:
      return "bad_request";
    case 405:
      return "method_refused";
    case 408:
      return "request_too_slow";
    case 413:
      return "body_too_large";
    case 431:
      return "head_too_large";
    case 503:
      return "too_many_connections";
    case 505:
      return "version_refused";
    default:
      return "internal";
  }
}

std::string problem_body(int status, std::string_view detail) {
  std::string body = "{\"code\":";
  append_json_string(body, problem_code(status));
  body += ",\"detail\":";
  append_json_string(body, detail);
  body += "}\n";
  return body;
}

Fields problem_fields() {
  return {{.name = "Content-Type", .value = std::string{kProblemType}},
          {.name = "Cache-Control", .value = "no-store"}};
}

std::string problem_answer(int status, std::string_view detail) {
  const std::string body = problem_body(status, detail);
  std::string out = fmt::format("HTTP/1.1 {} {}\r\n", status, usual_reason(status));
  for (const Field& field : problem_fields())
    out.append(field.name).append(": ").append(field.value).append("\r\n");
  out += fmt::format("Connection: close\r\nContent-Length: {}\r\n\r\n", body.size());
  return out + body;
}

}  // namespace cordon::http
