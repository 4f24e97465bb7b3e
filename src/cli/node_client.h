// SPDX-License-Identifier: Apache-2.0
// The node that a verb speaks to: where it is, who asks, and one request at a time.
#pragma once

#include <functional>
#include <string>

#include <boost/json/value.hpp>

#include "async/task.h"
#include "cli/node_address.h"
#include "cli/verbs.h"
#include "http/head.h"

namespace cordon::cli {

struct NodeOptions {
  std::string node;        // empty: CORDON_NODE, else the usual place
  std::string token_file;  // empty: CORDON_TOKEN, else none
  std::string tenant;
  bool json = false;
};
// --node, --token-file, --tenant and --json.
void add_node_flags(CLI::App& verb, NodeOptions& options);

struct Node {
  NodeAddress address;
  http::Fields fields;  // who asks
};
Result<Node> find_node(const NodeOptions& options, Context& context);

struct NodeRequest {
  std::string method = "GET";
  std::string path;  // with its query
  std::string body{};
  http::Fields fields{};
};

struct NodeAnswer {
  int status = 0;
  std::string body{};
  boost::json::value json{};  // null: the body is none

  bool is_good() const noexcept { return status >= 200 && status < 300; }
};
// What was answered in words that are no JSON object gets a status of 502: it is no node.
NodeAnswer read_answer(int status, std::string body);

// What is known of a request that failed: where nothing was sent it may be sent again.
enum class Sent : bool { no, perhaps };

// On a connection of its own. A refusal is an answer; an error is that none came.
async::Task<NodeAnswer> ask(const Node& node, NodeRequest request, Sent* sent = nullptr);
// The same with a loop of its own, for verbs that do nothing beside it.
Result<NodeAnswer> ask_now(const Node& node, NodeRequest request);

// Whether it is there, and says so soon: who connects while there is none may wait for the next.
asio::awaitable<bool> answers(const Node& node);

// Whoever takes an answer in lines.
struct LineTaker {
  std::function<void()> begin;  // the node has begun to answer
  // Gets each line, without its newline, and returns whether it wants more.
  std::function<async::Task<bool>(std::string line)> take;
};
// Until the answer is at its own end, or the taker has had enough. A refusal fills `refusal`, and
// then nothing is taken. Errors: the connection broke, or those of `take`.
async::Task<void> ask_lines(const Node& node, std::string path, LineTaker taker,
                            NodeAnswer& refusal);

// The path of a sandbox, and what is `below` it. `invalid`: `id` is no id.
Result<std::string> sandbox_path(const std::string& id, std::string_view below);

// A text as a value in a query.
std::string escaped_for_query(std::string_view text);

}  // namespace cordon::cli
