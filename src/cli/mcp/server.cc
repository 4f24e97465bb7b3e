// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/server.h"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

namespace cordon::cli {
namespace {

using mcp::server::Era;
using mcp::server::Problem;

// 1 and "1" are two.
std::string key_of(const json::value& id) { return json::serialize(id); }

Problem unknown_method(const std::string& method) {
  return {mcp::server::kUnknownMethod, fmt::format("there is no method `{}`", method)};
}

}  // namespace

void Conversation::cancel(const json::value& id) {
  // One that has been answered meanwhile is not there any more.
  const auto found = calls_.find(key_of(id));
  if (found != calls_.end()) found->second->cancel();
}

void Conversation::cancel_all() {
  for (auto& [id, call] : calls_) call->cancel();
  for (auto& [id, question] : questions_) {
    question->is_over = true;
    question->news.tell();
  }
}

void Server::take(const std::shared_ptr<Conversation>& conversation, mcp::server::Message message,
                  const std::shared_ptr<Outlet>& outlet) {
  if (auto* const request = std::get_if<mcp::server::Request>(&message)) {
    take_request(conversation, std::move(*request), outlet);
  } else if (const auto* const fault = std::get_if<mcp::server::Fault>(&message)) {
    outlet->answer(mcp::server::problem_text(fault->id, fault->problem));
  } else if (const auto* const notification = std::get_if<mcp::server::Notification>(&message)) {
    take_notification(*conversation, *notification);
  } else if (auto* const response = std::get_if<mcp::server::Response>(&message)) {
    take_response(*conversation, std::move(*response));
  }
}

void Server::take_notification(Conversation& conversation,
                               const mcp::server::Notification& notification) {
  if (notification.method != "notifications/cancelled") return;
  const json::value* const id = notification.params.if_contains("requestId");
  if (id != nullptr) conversation.cancel(*id);
}

void Server::take_response(Conversation& conversation, mcp::server::Response response) {
  const auto found = conversation.questions_.find(key_of(response.id));
  if (found == conversation.questions_.end()) return;
  found->second->answer = std::move(response.result);
  found->second->is_over = true;
  found->second->news.tell();
}

std::variant<json::object, Problem> Server::answer_at_once(
    Conversation& conversation, const mcp::server::Sender& sender,
    const mcp::server::Request& request) const {
  if (sender.era == Era::modern) {
    if (request.method == "server/discover") {
      return mcp::server::modern_result(facts_, mcp::server::discover_result(facts_));
    }
    if (request.method == "tools/list") {
      return mcp::server::modern_result(facts_, mcp::server::cacheable(list_.result()));
    }
    return unknown_method(request.method);
  }
  if (request.method == "initialize") {
    if (const json::object* const declared =
            mcp::server::object_at(request.params, "capabilities")) {
      conversation.can_elicit_ = mcp::server::can_elicit(*declared);
    }
    const json::string* const wanted = mcp::server::text_at(request.params, "protocolVersion");
    if (wanted == nullptr)
      return Problem{mcp::server::kInvalidParams, "`protocolVersion` is missing"};
    return mcp::server::initialize_result(facts_, mcp::server::legacy_version(*wanted));
  }
  if (request.method == "ping") return json::object{};
  if (request.method == "tools/list") return list_.result();
  return unknown_method(request.method);
}

std::variant<std::shared_ptr<Call>, Problem> Server::call_of(
    const std::shared_ptr<Conversation>& conversation, const mcp::server::Sender& sender,
    mcp::server::Request& request, const std::shared_ptr<Outlet>& outlet) const {
  const json::string* const name = mcp::server::text_at(request.params, "name");
  const json::object* const tool = name == nullptr ? nullptr : list_.find(*name);
  if (tool == nullptr) {
    return Problem{mcp::server::kInvalidParams,
                   fmt::format("there is no tool `{}`",
                               name == nullptr ? std::string_view{} : std::string_view{*name})};
  }
  auto call = std::make_shared<Call>();
  if (const json::value* const given = request.params.if_contains("arguments")) {
    if (!given->is_object())
      return Problem{mcp::server::kInvalidParams, "`arguments` is an object"};
    call->arguments = given->as_object();
  }
  if (const Status good = mcp::server::check_arguments(*tool, call->arguments); !good) {
    return Problem{mcp::server::kInvalidParams,
                   fmt::format("{}: {}", std::string_view{*name}, good.error().text())};
  }
  call->tool = *name;
  call->sender = sender;
  if (sender.era == Era::legacy) call->sender.can_elicit = conversation->can_elicit_;
  call->progress = mcp::server::progress_token(request.params);
  call->began = std::chrono::steady_clock::now();
  if (const json::string* const state = mcp::server::text_at(request.params, "requestState")) {
    call->state = std::string{*state};
  }
  if (const json::object* const answers =
          mcp::server::object_at(request.params, "inputResponses")) {
    call->answers = *answers;
  }
  call->notify = [outlet](std::string_view method, json::object params) {
    outlet->say(mcp::server::notification_text(method, std::move(params)));
  };
  call->elicit = [weak = std::weak_ptr{conversation}, outlet](json::object params, Ticks deadline) {
    return elicit(weak, outlet, std::move(params), deadline);
  };
  return call;
}

void Server::take_request(const std::shared_ptr<Conversation>& conversation,
                          mcp::server::Request request, const std::shared_ptr<Outlet>& outlet) {
  const auto refuse = [&](const Problem& problem) {
    outlet->answer(mcp::server::problem_text(request.id, problem));
  };
  const auto said = mcp::server::sender_of(request.params);
  if (const auto* const problem = std::get_if<Problem>(&said)) return refuse(*problem);
  const auto& sender = std::get<mcp::server::Sender>(said);
  if (request.method != "tools/call") {
    auto answer = answer_at_once(*conversation, sender, request);
    if (const auto* const problem = std::get_if<Problem>(&answer)) return refuse(*problem);
    return outlet->answer(
        mcp::server::result_text(request.id, std::move(std::get<json::object>(answer))));
  }
  if (conversation->calls_.contains(key_of(request.id))) {
    return refuse({mcp::server::kInvalidRequest, "a request of this id is not answered yet"});
  }
  if (conversation->calls_.size() >= Conversation::kMostCalls) {
    return refuse(
        {mcp::server::kInvalidRequest, "too many calls at once: wait for some to be answered"});
  }
  auto made = call_of(conversation, sender, request, outlet);
  if (const auto* const problem = std::get_if<Problem>(&made)) return refuse(*problem);
  auto call = std::get<std::shared_ptr<Call>>(std::move(made));
  conversation->calls_.emplace(key_of(request.id), call);
  scope_.spawn(serve(conversation, std::move(call), std::move(request.id), outlet));
}

asio::awaitable<void> Server::serve(std::shared_ptr<Conversation> conversation,
                                    std::shared_ptr<Call> call, json::value id,
                                    std::shared_ptr<Outlet> outlet) {
  ToolAnswer answer = co_await tools_.answer(*call);
  conversation->calls_.erase(key_of(id));
  outlet->answer(call->is_cancelled ? std::string{}
                                    : text_of(id, call->sender.era, std::move(answer)));
}

std::string Server::text_of(const json::value& id, Era era, ToolAnswer answer) const {
  if (const auto* const problem = std::get_if<Problem>(&answer)) {
    return mcp::server::problem_text(id, *problem);
  }
  if (auto* const required = std::get_if<InputRequired>(&answer)) {
    json::object result{{"inputRequests", std::move(required->requests)},
                        {"requestState", std::move(required->state)}};
    return mcp::server::result_text(
        id, mcp::server::modern_result(facts_, std::move(result), "input_required"));
  }
  auto& done = std::get<ToolResult>(answer);
  json::object result{
      {"content", json::array{json::object{{"type", "text"}, {"text", std::move(done.text)}}}}};
  if (!done.structured.empty()) result["structuredContent"] = std::move(done.structured);
  if (done.is_error) result["isError"] = true;
  if (era == Era::modern) result = mcp::server::modern_result(facts_, std::move(result));
  return mcp::server::result_text(id, std::move(result));
}

asio::awaitable<std::optional<json::object>> Server::elicit(std::weak_ptr<Conversation> whose,
                                                            std::shared_ptr<Outlet> outlet,
                                                            json::object params, Ticks deadline) {
  const auto conversation = whose.lock();
  if (!conversation) co_return std::nullopt;
  const json::value id(fmt::format("cordon-{}", ++conversation->last_question_));
  auto pending = std::make_shared<Conversation::Pending>();
  conversation->questions_.emplace(key_of(id), pending);
  outlet->say(mcp::server::request_text(id, "elicitation/create", std::move(params)));
  while (!pending->is_over && std::chrono::steady_clock::now() < deadline) {
    co_await pending->news.wait(deadline);
  }
  conversation->questions_.erase(key_of(id));
  if (!pending->is_over) {
    outlet->say(mcp::server::notification_text(
        "notifications/cancelled", {{"requestId", id}, {"reason", "it took too long"}}));
  }
  co_return std::move(pending->answer);
}

}  // namespace cordon::cli
