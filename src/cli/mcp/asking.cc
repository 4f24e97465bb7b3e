// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/asking.h"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "os/random.h"

namespace cordon::cli {
namespace {

constexpr std::string_view kKey = "consent";

json::object form_of(const Question& question) {
  json::array choices;
  for (const std::string& choice : question.choices) choices.emplace_back(choice);
  const json::object decision{
      {"type", "string"}, {"title", "Decision"}, {"enum", std::move(choices)}};
  return {{"mode", "form"},
          {"message", question.message},
          {"requestedSchema", json::object{{"type", "object"},
                                           {"properties", json::object{{"decision", decision}}},
                                           {"required", json::array{"decision"}}}}};
}

// What a person said, by the result of an elicitation.
Asked read_answer(const json::object& answer, const Question& question) {
  const json::string* const action = mcp::server::text_at(answer, "action");
  if (action == nullptr || *action != "accept")
    return Declined{"the person who was asked declined"};
  const json::object* const content = mcp::server::object_at(answer, "content");
  const json::string* const said =
      content == nullptr ? nullptr : mcp::server::text_at(*content, "decision");
  if (said == nullptr) return Declined{"the answer names no decision"};
  const std::string choice{*said};
  if (std::ranges::find(question.choices, choice) == question.choices.end()) {
    return Declined{"the answer is none of those that were offered"};
  }
  if (choice == question.choices.back()) return Declined{"the person who was asked declined"};
  return Chosen{choice};
}

std::string bound(const Call& call, const Question& question) {
  return call.tool + "\n" + json::serialize(call.arguments) + "\n" + question.about;
}

Asked ask_with_result(Call& call, mcp::server::Consents& consents, const Question& question) {
  const Ticks now = std::chrono::steady_clock::now();
  if (call.state) {
    if (const Status good = consents.take(*call.state, bound(call, question), now); !good) {
      return mcp::server::Problem{mcp::server::kInvalidParams, good.error().text()};
    }
    const json::object* const answer = mcp::server::object_at(call.answers, kKey);
    if (answer == nullptr) return Declined{"the question was not answered"};
    return read_answer(*answer, question);
  }
  const auto nonce = os::random_bytes<16>();
  if (!nonce) return Declined{nonce.error().text()};
  json::object request{{"method", "elicitation/create"}, {"params", form_of(question)}};
  return InputRequired{.requests = {{kKey, std::move(request)}},
                       .state = consents.ask(*nonce, bound(call, question), now)};
}

}  // namespace

asio::awaitable<Asked> ask(Call& call, mcp::server::Consents& consents, Question question) {
  if (!call.sender.can_elicit) co_return Nobody{};
  if (call.sender.era == mcp::server::Era::modern)
    co_return ask_with_result(call, consents, question);
  const auto answer = co_await call.elicit(form_of(question), call.began + kLongestCall);
  if (call.is_cancelled) co_return Declined{"the call was cancelled"};
  if (!answer) co_return Declined{"nobody answered in time: ask again"};
  co_return read_answer(*answer, question);
}

}  // namespace cordon::cli
