// SPDX-License-Identifier: Apache-2.0
#include "fleet/node_answer.h"

#include <utility>

#include "http/connection.h"
#include "http/framing.h"
#include "http/parse_head.h"
#include "http/serialise.h"
#include "http/target.h"

namespace cordon::fleet {

Result<std::string> to_bytes(OwnQuestion question, std::string host) {
  TRY(http::Target target, http::parse_target(question.method, question.path, 0));
  const http::RequestHead head{.method = std::move(question.method),
                               .target = std::move(target),
                               .host = {.host = std::move(host), .port = {}},
                               .fields = std::move(question.fields)};
  http::Framing framing;
  if (!question.body.empty()) {
    framing = {.kind = http::Framing::Kind::length, .length = question.body.size()};
  }
  TRY(std::string bytes, http::serialise(head, framing));
  return bytes + question.body;
}

async::Task<void> NodeAnswer::fill() {
  if (!held_.empty()) co_return Status{};
  CO_TRY(held_, co_await from_.read_some());
  co_return Status{};
}

async::Task<http::ResponseHead> NodeAnswer::head() {
  for (int interim = 0; interim <= http::kMostInterim; ++interim) {
    http::ResponseReader reader;
    for (bool is_done = false; !is_done;) {
      CO_TRY_DO(co_await fill());
      if (held_.empty()) co_return Error{Errc::unavailable, "the node ended the connection"};
      auto fed = reader.feed(held_);
      if (!fed) co_return std::move(fed).error();
      held_.erase(0, fed->consumed);
      is_done = fed->done;
    }
    http::ResponseHead answer = reader.take();
    if (http::is_interim(answer)) continue;
    CO_TRY(const http::Framing framing, http::framing_of(answer, {.method = "GET"}));
    body_.emplace(framing);
    keeps_ = http::keeps_alive(answer.version, answer.fields);
    co_return answer;
  }
  co_return Error{Errc::invalid, "the node answers without coming to an answer"};
}

async::Task<std::string> NodeAnswer::next() {
  std::string out;
  while (out.empty() && body_ && !body_->done()) {
    CO_TRY_DO(co_await fill());
    if (held_.empty()) {
      CO_TRY_DO(body_->finish());
      keeps_ = false;
      break;
    }
    std::string_view left = held_;
    while (!left.empty() && !body_->done()) {
      CO_TRY(const http::Piece piece, body_->next(left));
      out += piece.data;
      left.remove_prefix(piece.consumed);
    }
    held_ = std::string{left};
  }
  co_return out;
}

async::Task<std::string> NodeAnswer::line(std::size_t most) {
  for (;;) {
    const std::size_t end = lines_.find('\n', looked_);
    if (end != std::string::npos) {
      std::string line = lines_.substr(0, end);
      lines_.erase(0, end + 1);
      looked_ = 0;
      co_return line;
    }
    looked_ = lines_.size();
    if (lines_.size() > most) co_return Error{Errc::exhausted, "the node says a line without end"};
    CO_TRY(const std::string piece, co_await next());
    if (piece.empty()) co_return std::string{};
    lines_ += piece;
  }
}

async::Task<std::string> NodeAnswer::rest(std::size_t most) {
  std::string all;
  for (;;) {
    CO_TRY(const std::string piece, co_await next());
    if (piece.empty()) co_return all;
    if (piece.size() > most - all.size()) {
      co_return Error{Errc::exhausted, "the node answers more than is read"};
    }
    all += piece;
  }
}

}  // namespace cordon::fleet
