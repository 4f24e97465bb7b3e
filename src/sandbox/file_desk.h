// SPDX-License-Identifier: Apache-2.0
// File requests to one guest: as many at once as it takes, the others in their turn.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "frame/guest.h"
#include "sandbox/outbox.h"

namespace cordon::sandbox {

class FileDesk {
 public:
  // Calls that wait for their turn; more are refused (exhausted).
  static constexpr std::size_t kMostWaiting = 256;

  // `outbox` outlives it.
  FileDesk(asio::any_io_executor executor, Outbox& outbox);

  // One request and its answer, whose error_number is a value. Calls may overlap. `invalid`: more
  // bytes than one request takes. One that is given up keeps its place until the guest has answered
  // it.
  async::Task<frame::FileReply> ask(frame::FileRequest request);
  async::Task<frame::FileReply> ask(frame::WriteTree tree);
  async::Task<frame::FileReply> ask(frame::ReadTree tree);

  // An answer to no question is an error.
  Status take(frame::FileReply reply);
  // Wakes all who wait: the outbox has ended.
  void end();

 private:
  struct Question {
    explicit Question(const asio::any_io_executor& executor);
    asio::steady_timer news;  // never fires: cancelled when it is answered, or its turn
    std::optional<frame::FileReply> reply;
  };
  class Queued;

  template <class Wanted>
  async::Task<frame::FileReply> ask_in_turn(Wanted wanted);

  asio::any_io_executor executor_;
  Outbox& outbox_;
  std::map<std::uint32_t, std::shared_ptr<Question>> asked_;
  std::deque<Question*> waiting_;
  std::uint32_t next_ = 1;
};

}  // namespace cordon::sandbox
