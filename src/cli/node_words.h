// SPDX-License-Identifier: Apache-2.0
// What a node answers, as a person reads it. Nothing in it can steer a terminal.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

#include "cli/exit_code.h"
#include "cli/node_client.h"

namespace cordon::cli {

// Why not, and what to do next: each problem of a document, each denial of a plan.
std::string words_of_refusal(const NodeAnswer& answer);
Exit exit_of_status(int status) noexcept;
// For a verb that ends with a command's own code: 126 is a refusal, 125 all else.
Exit start_exit_of_status(int status) noexcept;

// The words, with --json also the problem itself on standard output, and the exit code.
void refuse(Context& context, const NodeOptions& options, const NodeAnswer& answer);

// One request to the node that is named. Nothing: it has been told why not.
std::optional<NodeAnswer> ask_or_tell(const NodeOptions& options, NodeRequest request,
                                      Context& context);

// A table: names, and a row for each sandbox or process, which are values of API v1.
std::string sandboxes_text(const boost::json::array& sandboxes, std::chrono::sys_seconds now);
std::string processes_text(const boost::json::array& processes);

// Rows of equal length under their names, in columns.
using Row = std::vector<std::string>;
std::string table_text(const std::vector<Row>& rows);

// A text of an object; empty: it has none of this name.
std::string text_at(const boost::json::value& object, std::string_view name);
// A number of an object; nothing: it has none of this name.
std::optional<std::uint64_t> number_at(const boost::json::value& object, std::string_view name);
// A list of an object; an empty one where it has none.
const boost::json::array& list_at(const boost::json::value& object, std::string_view name);

// Of "2026-11-16T02:14:00.000Z"; nothing: it is no such time.
std::optional<std::chrono::sys_seconds> read_time(std::string_view text);

}  // namespace cordon::cli
