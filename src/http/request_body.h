// SPDX-License-Identifier: Apache-2.0
// The body of a request, as its handler reads it: bounded, in time, and asked for only when wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "async/task.h"
#include "http/body.h"
#include "http/head.h"
#include "http/server_limits.h"
#include "http/shared_inbox.h"
#include "http/stream.h"

namespace cordon::http {

class RequestBody {
 public:
  // All outlive it.
  RequestBody(const RequestHead& head, Stream& stream, SharedInbox& inbox, const ServerTimes& times,
              const ServerLimits& limits);

  // At least one byte, or 0: the body has ended.
  async::Task<std::size_t> read_some(std::span<char> room);
  // All of it. Errc::exhausted: it is longer than `most`; a length that says so is not waited for.
  async::Task<std::string> read_all(std::size_t most);
  // Reads and drops what is left, where that is little. False: it was not, or did not come.
  asio::awaitable<bool> drop_rest();

  bool is_done() const noexcept { return reader_.done(); }
  // Whether the connection can be used again without anybody's reading the rest.
  bool may_drop_rest() const noexcept;
  // The status that tells why reading failed; 0: it did not.
  int fault() const noexcept { return fault_; }
  // From now on only silence ends it, not slowness.
  void allow_slowness() noexcept { may_be_slow_ = true; }

 private:
  async::Task<void> invite();
  async::Task<std::string_view> more();
  Error failed(Error error);

  Framing framing_;
  BodyReader reader_;
  Stream& stream_;
  SharedInbox& inbox_;
  const ServerTimes& times_;
  const ServerLimits& limits_;
  Ticks began_{};  // when it was first waited for
  std::uint64_t received_ = 0;
  int fault_ = 0;
  bool awaits_invitation_;
  bool may_be_slow_ = false;
};

}  // namespace cordon::http
