// SPDX-License-Identifier: Apache-2.0
// The beginning and the end of a process in a node, as its caller is told of them.
#pragma once

#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/json/value.hpp>

#include "cli/exec_order.h"

namespace cordon::cli {

// The number of the process that `order` starts, or names. Nothing: none runs, why was told, and
// `code` is what to end with. All outlive it.
asio::awaitable<std::optional<std::string>> begin_process(const Node& node, const ExecOrder& order,
                                                          Context& context, int& code);

// The code to end with after `process`, as a node shows it; told where it is more than its own.
asio::awaitable<int> end_of_process(const Node& node, const ExecOrder& order, Context& context,
                                    boost::json::value process);
// The same where its sandbox has ended under it. `failure`: what is told where nothing is known.
asio::awaitable<int> end_of_sandbox(const Node& node, const ExecOrder& order, Context& context,
                                    std::string failure);

// How somebody finds it again who leaves it.
std::string where_it_goes_on(const ExecOrder& order, const std::string& number);

}  // namespace cordon::cli
