// SPDX-License-Identifier: Apache-2.0
#include "cli/process_ends.h"

#include <ostream>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "cli/exec_words.h"
#include "cli/node_away.h"
#include "cli/node_words.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {}  // namespace

std::string where_it_goes_on(const ExecOrder& order, const std::string& number) {
  return fmt::format("cordon attach {} {} goes on with it", order.sandbox, number);
}

asio::awaitable<std::optional<std::string>> begin_process(const Node& node, const ExecOrder& order,
                                                          Context& context, int& code) {
  if (order.process) co_return std::to_string(*order.process);
  Sent sent = Sent::no;
  NodeRequest request{.method = "POST",
                      .path = "/v1/sandboxes/" + order.sandbox + "/processes",
                      .body = order.start};
  const auto answer = co_await ask(node, std::move(request), &sent);
  if (!answer) {
    context.err << "cordon: " << answer.error().text() << '\n';
    if (sent == Sent::perhaps)
      context.err << "cordon: whether it was started is not known: see cordon top " << order.sandbox
                  << '\n';
    code = static_cast<int>(Exit::not_started);
    co_return std::nullopt;
  }
  if (!answer->is_good()) {
    refuse(context, order.options, *answer);
    code = static_cast<int>(start_exit_of_status(answer->status));
    co_return std::nullopt;
  }
  co_return std::to_string(number_at(answer->json, "process").value_or(0));
}

asio::awaitable<int> end_of_process(const Node& node, const ExecOrder& order, Context& context,
                                    boost::json::value process) {
  const std::string failure = text_at(process, "failure");
  if (failure.empty()) co_return code_of_exit(process);
  // It ran: then its sandbox has ended, which says more.
  if (number_at(process, "pid")) co_return co_await end_of_sandbox(node, order, context, failure);
  context.err << "cordon: " << terminal::printable(failure) << '\n';
  co_return code_of_failure(failure);
}

asio::awaitable<int> end_of_sandbox(const Node& node, const ExecOrder& order, Context& context,
                                    std::string failure) {
  // A moment passes between the end of its processes and its verdict.
  constexpr int kLooks = 100;
  const NodeRequest request{.path = "/v1/sandboxes/" + order.sandbox};
  for (int look = 0; look < kLooks; ++look) {
    const auto answer = co_await ask(node, request);
    if (!answer || !answer->is_good()) break;
    if (text_at(answer->json, "state") == "ended") {
      const SandboxEnd end = read_sandbox_end(answer->json);
      context.err << "cordon: the sandbox has ended: " << terminal::printable(end.words) << '\n';
      co_return end.code;
    }
    co_await pause();
  }
  context.err << "cordon: " << terminal::printable(failure) << '\n';
  co_return static_cast<int>(Exit::not_started);
}

}  // namespace cordon::cli
