// SPDX-License-Identifier: Apache-2.0
// Files of a sandbox on their way from one node to another: an archive of each directory, as it
// comes. Nothing of it is read here.
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <fmt/format.h>

#include "async/deadline.h"
#include "async/unless.h"
#include "etcd/sleep.h"
#include "fleet/mover.h"
#include "fleet/node_answer.h"
#include "http/serialise.h"
#include "http/target.h"
#include "token/sandbox_name.h"

namespace cordon::fleet {
namespace {

// Both let go of it after a minute without a word.
constexpr std::chrono::seconds kBetweenWords{10};
// For one piece, or an answer.
constexpr std::chrono::seconds kForOnePiece{60};

// A value for the query of another request.
std::string escaped_path(std::string_view text) {
  std::string out;
  for (const char letter : text) out += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
  return out;
}

Result<std::string> upload_head(const std::string& token, NodeId node, const std::string& path) {
  TRY(http::Target target, http::parse_target("PUT", path, 0));
  const http::RequestHead head{
      .method = "PUT",
      .target = std::move(target),
      .host = {.host = token::audience_of_node(node.cell, node.node), .port = {}},
      .fields = {{"Authorization", "Bearer " + token}, {"Content-Type", "application/x-tar"}}};
  return http::serialise(head, {.kind = http::Framing::Kind::chunked});
}

}  // namespace

async::Task<std::uint64_t> Mover::copy_tree(const Journey& journey, std::string path) {
  const auto& [to, from, move] = journey.passage;
  const std::string query = "&path=" + escaped_path(path);
  CO_TRY(auto source, co_await parts_.nodes.connect(from));
  CO_TRY_DO(co_await parts_.nodes.send(
      *source, from, {.path = departure_path(journey.sandbox, "/tree", move) + query}));
  NodeAnswer reading{*source};
  CO_TRY(http::ResponseHead head, co_await async::within(kForOnePiece, reading.head()));
  parts_.nodes.heard(from, head.fields);
  if (head.status == kNotFound) co_return std::uint64_t{0};
  if (head.status > kLastGood) {
    co_return Error{Errc::unavailable, fmt::format("node {} does not give {}: it answers {}",
                                                   to_string(from), path, head.status)};
  }
  CO_TRY(auto target, co_await parts_.nodes.connect(to));
  CO_TRY(const std::string token, parts_.reissue.own(to, parts_.clock.wall()));
  CO_TRY(std::string begin,
         upload_head(token, to, arrival_path(journey.sandbox, "/tree", move) + query));
  CO_TRY_DO(co_await async::within(kForOnePiece, target->write(std::move(begin))));
  std::uint64_t bytes = 0;
  for (bool is_last = false; !is_last;) {
    // What breaks off is an error: no part is taken for the whole.
    CO_TRY(const std::string piece, co_await async::within(kForOnePiece, reading.next()));
    bytes += piece.size();
    is_last = piece.empty();
    CO_TRY_DO(co_await async::within(
        kForOnePiece, target->write(fmt::format("{:x}\r\n{}\r\n", piece.size(), piece))));
  }
  NodeAnswer answering{*target};
  CO_TRY(http::ResponseHead answer, co_await async::within(kForOnePiece, answering.head()));
  parts_.nodes.heard(to, answer.fields);
  CO_TRY(const std::string words,
         co_await async::within(kForOnePiece, answering.rest(std::size_t{64} << 10U)));
  if (answer.status > kLastGood) {
    co_return Error{Errc::unavailable, refused_by(to, {answer.status, {}, words}).detail};
  }
  if (reading.keeps()) parts_.nodes.give_back(from, std::move(source));
  if (answering.keeps()) parts_.nodes.give_back(to, std::move(target));
  co_return bytes;
}

async::Task<void> Mover::copy_paths(Journey& journey) {
  for (const std::string& path : journey.paths) {
    CO_TRY(const std::uint64_t bytes, co_await copy_tree(journey, path));
    journey.bytes += bytes;
  }
  co_return Status{};
}

asio::awaitable<void> Mover::keep_awake(const Journey& journey) {
  const auto& [to, from, move] = journey.passage;
  for (;;) {
    co_await etcd::sleep(kBetweenWords);
    const auto leaves =
        co_await ask_step(from, "POST", departure_path(journey.sandbox, "/check", move));
    const auto comes = co_await ask_step(to, "POST", arrival_path(journey.sandbox, "/check", move));
    // One word that is lost is not the end.
    if (leaves && leaves->status > kLastGood) co_return;
    if (comes && comes->status > kLastGood) co_return;
  }
}

async::Task<Mover::Refusal> Mover::copy_all(Journey& journey) {
  const auto& [to, from, move] = journey.passage;
  const Status copied = co_await async::unless(
      keep_awake(journey), [] { return true; }, copy_paths(journey),
      Error{Errc::unavailable, "it has ended, or become narrower, while it was copied"});
  if (!copied) co_return not_moved(409, copied.error().text());
  const auto ready = co_await ask_step(to, "POST", arrival_path(journey.sandbox, "/ready", move));
  if (!ready) co_return not_moved(503, ready.error().text());
  if (ready->status > kLastGood) co_return refused_by(to, *ready);
  // As late as can be: what was taken from it while it was copied is not in the copy.
  const auto leaves =
      co_await ask_step(from, "POST", departure_path(journey.sandbox, "/check", move));
  if (!leaves) co_return not_moved(503, leaves.error().text());
  if (leaves->status > kLastGood) co_return refused_by(from, *leaves);
  co_return Refusal{};
}

}  // namespace cordon::fleet
