// SPDX-License-Identifier: Apache-2.0
// cordon-mcp as `cordon` sees it: a process that is told bytes and says what to do about them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "frame/guest.h"
#include "mcp/filter_frame.h"
#include "os/process.h"
#include "os/spawn.h"

namespace cordon::cli {

// Started, confined and set up: it has said so.
struct StartedFilter {
  os::Child child;
  os::Fd in;
  os::Fd out;
  os::Fd err;
};
Result<StartedFilter> start_filter(const mcp::Setup& setup);

// Its end ends the process.
class FilterLink {
 public:
  FilterLink(const asio::any_io_executor& executor, StartedFilter filter);
  FilterLink(const FilterLink&) = delete;
  FilterLink& operator=(const FilterLink&) = delete;

  // Tells it `frame` and hands on what it answers, one after the other, until it is done with it.
  // Others who come meanwhile wait. An Error of `take` ends the link.
  using Take = std::function<Status(mcp::FromFilter)>;
  async::Task<void> tell(mcp::ToFilter frame, const Take& take);

 private:
  async::Task<void> exchange(const mcp::ToFilter& frame, const Take& take);
  async::Task<mcp::FromFilter> next();
  Error why_ended() const;

  os::Child child_;
  asio::posix::stream_descriptor in_;
  asio::posix::stream_descriptor out_;
  os::Fd err_;
  asio::steady_timer turn_;  // never fires: cancelled when the turn is free
  bool is_busy_ = false;
  std::optional<Error> failed_;
  frame::FrameCutter cutter_{mcp::kLongestFrame};
  std::vector<char> buffer_ = std::vector<char>(std::size_t{64} << 10U);
};

}  // namespace cordon::cli
