// SPDX-License-Identifier: Apache-2.0
#include "egress/refusal_answer.h"

#include <algorithm>
#include <cstddef>

#include "http/characters.h"

namespace cordon::egress {
namespace {

constexpr std::size_t kMostText = 500;

}  // namespace

std::string safe_text(std::string_view text) {
  std::string safe{text.substr(0, kMostText)};
  std::ranges::replace_if(
      safe, [](char c) { return c != ' ' && c != '\n' && !http::is_visible(c); }, '?');
  return safe;
}

std::string refusal_answer(const HttpRefusal& refusal, std::string_view method,
                           http::Version version, http::After after) {
  const std::string body = "cordon: " + safe_text(refusal.text) + "\n";
  const std::string code =
      http::is_token(refusal.code) ? refusal.code : std::string{"proxy_unavailable"};
  const http::ResponseHead head{
      .status = refusal.status >= 400 && refusal.status < 600 ? refusal.status : 403,
      .version = version,
      .fields = {{.name = "Content-Type", .value = "text/plain; charset=utf-8"},
                 {.name = "Cache-Control", .value = "no-store"},
                 {.name = "x-cordon-denied", .value = code}}};
  const bool is_bare = method == "HEAD";
  const http::Framing framing{
      .kind = is_bare ? http::Framing::Kind::announced : http::Framing::Kind::length,
      .length = body.size()};
  auto text = http::serialise(head, framing, after);
  if (!text) return {};  // cannot be: all of it is ours
  return is_bare ? *text : *text + body;
}

}  // namespace cordon::egress
