// SPDX-License-Identifier: Apache-2.0
// What the tools of a server do.
#pragma once

#include <string>

#include "cli/mcp/asking.h"
#include "cli/mcp/call.h"
#include "cli/mcp/jobs.h"
#include "cli/mcp/sandboxes.h"
#include "mcp/server/consent.h"
#include "mcp/server/output_store.h"

namespace cordon::cli {

struct ToolHouse {
  const SandboxHouse& house;
  Sandboxes& sandboxes;
  Jobs& jobs;
  asio::thread_pool& pool;
  std::string workspace;  // the host's directory, which is the same inside
  std::string level;
  bool applies_unasked = false;  // the operator has agreed already
};

// Used from the loop's thread only.
class Tools {
 public:
  // All outlive it.
  Tools(const ToolHouse& house, mcp::server::Consents consents)
      : at_{house}, consents_{std::move(consents)} {}

  // Before: the call's arguments are as its tool declares them. The call outlives it.
  asio::awaitable<ToolAnswer> answer(Call& call);

 private:
  asio::awaitable<ToolAnswer> run(Call& call);
  asio::awaitable<ToolAnswer> run_code(Call& call);
  asio::awaitable<ToolAnswer> process(Call& call);
  ToolAnswer read_output(const Call& call) const;
  asio::awaitable<ToolAnswer> diff(Call& call);
  asio::awaitable<ToolAnswer> apply(Call& call);
  asio::awaitable<ToolAnswer> explain(Call& call);
  asio::awaitable<ToolAnswer> request_access(Call& call);

  // Until it is over, or the call's time is; tells the client that it is at work.
  asio::awaitable<void> wait_for(Call& call, std::shared_ptr<Job> job, Ticks deadline);
  asio::awaitable<ToolAnswer> run_order(Call& call, JobOrder order, std::string mark);
  ToolResult command_answer(const Call& call, Job& job, const std::string& mark);

  ToolHouse at_;
  mcp::server::Consents consents_;
  mcp::server::OutputStore outputs_{std::size_t{16} << 20U};
};

// As every tool tells of it.
json::array to_json(const std::vector<Denial>& denials);
// "SIGKILL".
std::string signal_name(int number);
json::value text_or_null(const std::string& text);
json::value signal_or_null(const std::optional<int>& number);
template <class T>
json::value or_null(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value{};
}

}  // namespace cordon::cli
