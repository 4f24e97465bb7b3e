// SPDX-License-Identifier: Apache-2.0
// An MCP server without its transport: takes messages of clients, and answers them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "async/scope.h"
#include "cli/mcp/tools.h"
#include "mcp/server/era.h"
#include "mcp/server/json_rpc.h"
#include "mcp/server/tool_list.h"

namespace cordon::cli {

// Where what is said to a client goes. Each text is one message.
class Outlet {
 public:
  virtual ~Outlet() = default;
  // Before the answer: a notification, or a question of ours.
  virtual void say(std::string text) = 0;
  // The answer, after which nothing follows on a request's own outlet. Empty: there is none, since
  // it was cancelled.
  virtual void answer(std::string text) = 0;
};

// One client, from its first message to its last. Used from the loop's thread only.
class Conversation {
 public:
  static constexpr std::size_t kMostCalls = 32;

  Conversation() = default;
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // Ends what it has asked for: by the request of this id, or all.
  void cancel(const json::value& id);
  void cancel_all();

 private:
  friend class Server;
  struct Pending {
    std::optional<json::object> answer;
    bool is_over = false;
    News news;
  };
  bool can_elicit_ = false;  // as was said at the beginning, in the legacy era
  std::map<std::string, std::shared_ptr<Call>> calls_;  // by their ids, as text
  std::map<std::string, std::shared_ptr<Pending>> questions_;
  std::int64_t last_question_ = 0;
};

// Used from the loop's thread only.
class Server {
 public:
  // All outlive it; calls run in `scope`.
  Server(Tools& tools, const mcp::server::ToolList& list, mcp::server::ServerFacts facts,
         async::Scope& scope)
      : tools_{tools}, list_{list}, facts_{std::move(facts)}, scope_{scope} {}

  // Takes one message. What is to be said comes through `outlet`, also later.
  void take(const std::shared_ptr<Conversation>& conversation, mcp::server::Message message,
            const std::shared_ptr<Outlet>& outlet);

 private:
  void take_request(const std::shared_ptr<Conversation>& conversation, mcp::server::Request request,
                    const std::shared_ptr<Outlet>& outlet);
  static void take_notification(Conversation& conversation,
                                const mcp::server::Notification& notification);
  static void take_response(Conversation& conversation, mcp::server::Response response);
  // What needs no waiting.
  std::variant<json::object, mcp::server::Problem> answer_at_once(
      Conversation& conversation, const mcp::server::Sender& sender,
      const mcp::server::Request& request) const;
  std::variant<std::shared_ptr<Call>, mcp::server::Problem> call_of(
      const std::shared_ptr<Conversation>& conversation, const mcp::server::Sender& sender,
      mcp::server::Request& request, const std::shared_ptr<Outlet>& outlet) const;
  asio::awaitable<void> serve(std::shared_ptr<Conversation> conversation,
                              std::shared_ptr<Call> call, json::value id,
                              std::shared_ptr<Outlet> outlet);
  static asio::awaitable<std::optional<json::object>> elicit(std::weak_ptr<Conversation> whose,
                                                             std::shared_ptr<Outlet> outlet,
                                                             json::object params, Ticks deadline);
  std::string text_of(const json::value& id, mcp::server::Era era, ToolAnswer answer) const;

  Tools& tools_;
  const mcp::server::ToolList& list_;
  mcp::server::ServerFacts facts_;
  async::Scope& scope_;
};

}  // namespace cordon::cli
