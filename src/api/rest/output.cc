// SPDX-License-Identifier: Apache-2.0
// What a process writes, as lines of JSON: from any byte that was not acknowledged yet.
#include "api/rest/reading.h"
#include "api/rest/rest.h"
#include "api/rest/shown.h"
#include "http/upgrade.h"
#include "wire/answers.h"

namespace cordon::api {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10U;

// Sends a reader what there is, and what comes, until all of it was sent.
class OutputStream {
 public:
  OutputStream(Call& call, node::ResidentProcess& process, node::Offsets at, bool acknowledges)
      : call_{call}, process_{process}, at_{at}, acknowledges_{acknowledges} {}

  async::Task<void> run() {
    while (true) {
      CO_TRY_DO(co_await send_what_is_there());
      if (process_.is_over()) break;
      co_await process_.news();
    }
    const std::string line = wire::exit_line(shown(process_));
    co_return co_await call_.exchange.write(line);
  }

 private:
  async::Task<void> send_what_is_there() {
    while (const auto piece = process_.read(at_, kPiece)) {
      const bool is_error = piece->stream == frame::Stream::err;
      const std::string line = wire::output_line(is_error, piece->offset, piece->bytes);
      at_[is_error ? 1 : 0] = piece->offset + piece->bytes.size();
      CO_TRY_DO(co_await call_.exchange.write(line));
      if (acknowledges_) CO_TRY_DO(process_.acknowledge(at_));
    }
    co_return Status{};
  }

  Call& call_;
  node::ResidentProcess& process_;
  node::Offsets at_;
  bool acknowledges_;
};

}  // namespace

async::Task<void> catch_up(const Call& call, node::ResidentProcess& process) {
  CO_TRY(const auto out, number_of(call, "stdout"));
  CO_TRY(const auto err, number_of(call, "stderr"));
  co_await process.catch_up({out.value_or(0), err.value_or(0)});
  co_return Status{};
}

Result<Reading> reading_of(const Call& call, node::ResidentProcess& process) {
  TRY(const auto out, number_of(call, "stdout"));
  TRY(const auto err, number_of(call, "stderr"));
  const auto mode = call.query.find("acknowledge");
  const bool by_client = mode != call.query.end() && mode->second == "client";
  if (mode != call.query.end() && !by_client && mode->second != "sent") {
    return Error{Errc::invalid, "query: `acknowledge` is \"sent\" or \"client\""};
  }
  const node::Offsets held = process.held_from();
  const Reading reading{.from = {out.value_or(held[0]), err.value_or(held[1])},
                        .acknowledges = !by_client};
  TRY_DO(process.can_read_from(reading.from));
  // Whoever asks from there on has what was before.
  if (by_client) TRY_DO(process.acknowledge(reading.from));
  return reading;
}

async::Task<void> Rest::stream_output(Call& call) {
  if (http::asks_upgrade(call.exchange.head())) co_return co_await attach(call, false);
  CO_TRY_DO(only_known(call, {"stdout", "stderr", "acknowledge"}));
  CO_TRY(const auto resident, living(call));
  CO_TRY(const auto found, process(*resident, call));
  CO_TRY_DO(co_await catch_up(call, *found));
  CO_TRY(const Reading reading, reading_of(call, *found));
  CO_TRY_DO(co_await call.exchange.begin(200, stream_fields(call, "application/x-ndjson")));
  CO_TRY_DO(co_await OutputStream(call, *found, reading.from, reading.acknowledges).run());
  co_return co_await call.exchange.finish();
}

async::Task<void> Rest::acknowledge_output(Call& call) {
  CO_TRY_DO(only_known(call, {"stdout", "stderr"}));
  CO_TRY(const auto resident, living(call));
  CO_TRY(const auto found, process(*resident, call));
  CO_TRY_DO(co_await catch_up(call, *found));
  CO_TRY(const auto out, number_of(call, "stdout"));
  CO_TRY(const auto err, number_of(call, "stderr"));
  CO_TRY_DO(found->acknowledge({out.value_or(0), err.value_or(0)}));
  co_return co_await answer_nothing(call);
}

}  // namespace cordon::api
