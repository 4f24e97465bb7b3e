// SPDX-License-Identifier: Apache-2.0
#include "mcp/gate.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "mcp/canonical.h"
#include "mcp/fold.h"
#include "policy/text.h"

namespace cordon::mcp {
namespace {

constexpr std::string_view kCall = "tools/call";
constexpr std::string_view kMeta = "io.modelcontextprotocol/";

const Json* meta_of(const Message& message, std::string_view name) {
  const Json* const params = message.params();
  const Json* const meta = params == nullptr ? nullptr : params->find("_meta");
  return meta == nullptr ? nullptr : meta->find(fmt::format("{}{}", kMeta, name));
}

Era era_of(const Message& message) {
  return meta_of(message, "protocolVersion") != nullptr ? Era::modern : Era::legacy;
}

// A client that elicits by forms, which are what an empty object has always meant.
bool has_forms(const Json* capabilities) {
  const Json* const elicitation =
      capabilities == nullptr ? nullptr : capabilities->find("elicitation");
  return elicitation != nullptr && elicitation->is_object() &&
         (elicitation->members.empty() || elicitation->find("form") != nullptr);
}

bool says_yes(const Json* answer) {
  if (answer == nullptr) return false;
  const std::string* const action = answer->find_text("action");
  const Json* const content = answer->find("content");
  const std::string* const decision = content == nullptr ? nullptr : content->find_text("decision");
  return action != nullptr && *action == "accept" && decision != nullptr && *decision == kAllowOnce;
}

// It brings answers to what a result before it asked for.
bool goes_on(const Message& message) {
  return message.params()->find("requestState") != nullptr ||
         message.params()->find("inputResponses") != nullptr;
}

// The line with what our own question added to its params taken out again.
std::string without_answers(const Message& message) {
  const Json& params = *message.params();
  std::string kept;
  for (const JsonMember& member : params.members) {
    if (member.key == "inputResponses" || member.key == "requestState") continue;
    if (!kept.empty()) kept += ',';
    kept += std::string_view{message.line}.substr(member.begin, member.value.end - member.begin);
  }
  return fmt::format("{}{{{}}}{}", message.line.substr(0, params.begin), kept,
                     message.line.substr(params.end));
}

}  // namespace

Gate::Gate(const Setup& setup, policy::Policy policy)
    : client_lines_{setup.longest_line},
      server_lines_{setup.longest_line},
      longest_line_{setup.longest_line},
      let_{setup.let.begin(), setup.let.end()},
      pins_{setup.pins, setup.is_first_sight},
      judge_{setup.server, std::move(policy), pins_, setup.accept},
      asks_{setup.key, setup.sandbox} {}

std::vector<FromFilter> Gate::from_client(std::string_view bytes, Ticks now) {
  now_ = now;
  for (const CutLine& line : client_lines_.push(bytes)) client_line(line);
  return std::exchange(acts_, {});
}

void Gate::refuse_line(std::string_view who, std::string why) {
  acts_.emplace_back(Refused{.code = "CORDON-MCP-LINE",
                             .tried = fmt::format("a line of the {}", who),
                             .rule = "default",
                             .why = std::move(why)});
}

void Gate::client_line(const CutLine& line) {
  if (line.too_long) {
    std::string why = fmt::format("it is longer than {} bytes", longest_line_);
    to_client(error_line({}, kInvalidRequest, "cordon: the line is refused: " + why));
    return refuse_line("client", std::move(why));
  }
  if (line.is_blank()) return;
  ReadMessage read = read_message(line.text, Numbers::exact);
  if (!read.refused.empty()) {
    if (!read.is_response || read.id.empty()) {
      // An id that is in use is that of another request, which is still to be answered.
      to_client(error_line(is_in_use(read.id) ? std::string{} : read.id, kInvalidRequest,
                           "cordon: the line is refused: " + read.refused));
    }
    return refuse_line("client", std::move(read.refused));
  }
  switch (read.message.kind) {
    case MessageKind::request:
      return client_request(std::move(read.message));
    case MessageKind::notification:
      return client_notification(read.message);
    case MessageKind::response:
      return client_response(read.message);
  }
}

void Gate::learn_capabilities(const Message& message) {
  if (message.method != "initialize" || message.params() == nullptr) return;
  client_elicits_ = has_forms(message.params()->find("capabilities"));
}

bool Gate::can_ask(const Message& message, Era era) const {
  return era == Era::modern ? has_forms(meta_of(message, "clientCapabilities")) : client_elicits_;
}

void Gate::client_request(Message message) {
  const auto refuse = [&](const std::string& id, int code, std::string why) {
    to_client(error_line(id, code, "cordon: " + why));
    refuse_line("client", std::move(why));
  };
  if (is_in_use(message.id)) return refuse({}, kInvalidRequest, "its id is in use already");
  if (flights_.size() >= kMostFlights) {
    return refuse(message.id, kServerError,
                  fmt::format("{} requests are under way already", kMostFlights));
  }
  // A server that does not mind case would take it for one.
  if (message.method != kCall && folded(message.method) == kCall)
    return refuse(message.id, kNoMethod, "its method is tools/call in other letters");
  const Era era = era_of(message);
  if (message.method == kCall) return client_call(message, era);
  learn_capabilities(message);
  pass_to_server(message);
  flights_.emplace(message.id, Flight{.method = message.method, .era = era});
}

void Gate::client_notification(const Message& message) {
  // A server that answers no notification may still do what one says.
  if (!message.method.starts_with("notifications/"))
    return refuse_line(
        "client", fmt::format("{} is a request, and has no id", policy::in_quotes(message.method)));
  if (message.method == "notifications/cancelled" && message.params() != nullptr) {
    const Json* const id = message.params()->find("requestId");
    if (id != nullptr) {
      const std::string key = canonical(*id, message.line);
      if (asks_.cancel(key)) return;  // the server never heard of it
      flights_.erase(key);
    }
  }
  pass_to_server(message);
}

void Gate::client_response(const Message& message) {
  if (auto asked = asks_.answered(message.id)) {
    if (says_yes(message.result())) {
      return pass_call(asked->line, Era::legacy, std::move(asked->call), asked->rule, true);
    }
    const std::string id = asked->call.id;
    Refused refused = judge_.refusal(asked->call, "CORDON-TOOL-DECLINED",
                                     "a person was asked and did not allow it");
    refused.rule = asked->rule;
    return refuse_call(id, Era::legacy, std::move(refused));
  }
  if (server_flights_.erase(message.id) == 0)
    return refuse_line("client", "it answers a request that the server did not make");
  pass_to_server(message);
}

void Gate::refuse_call(const std::string& id, Era era, Refused refused) {
  to_client(refused_call_line(id, era, refused));
  acts_.emplace_back(std::move(refused));
}

void Gate::pass_call(std::string_view line, Era era, Call call, std::string rule, bool approved) {
  acts_.emplace_back(Called{
      .tool = call.tool, .arguments = call.digest, .rule = std::move(rule), .approved = approved});
  to_server(line);
  to_server("\n");
  const std::string id = call.id;
  flights_.emplace(
      id,
      Flight{
          .method = std::string{kCall}, .era = era, .call = std::move(call), .approved = approved});
}

void Gate::client_call(const Message& message, Era era) {
  const Json* const params = message.params();
  const std::string* const tool = params == nullptr ? nullptr : params->find_text("name");
  const Json* const arguments = params == nullptr ? nullptr : params->find("arguments");
  const bool is_call =
      tool != nullptr && is_tool_name(*tool) && (arguments == nullptr || arguments->is_object());
  if (!is_call) {
    std::string why =
        "a call needs the name of a tool (1 to 128 of A-Z, a-z, 0-9, _, . and -), and its "
        "arguments as an object";
    to_client(error_line(message.id, kInvalidParams, "cordon: " + why));
    return refuse_line("client", std::move(why));
  }
  Call call{.id = message.id,
            .tool = *tool,
            .arguments = arguments == nullptr ? "{}" : canonical(*arguments, message.line),
            .digest = canonical_digest(arguments, message.line)};
  if (take_approval(message, era, call)) return;
  Judged judged = judge_.judge(call, now_);
  if (judged.effect == policy::Effect::allow)
    return pass_call(message.line, era, std::move(call), std::move(judged.rule), false);
  if (judged.effect == policy::Effect::ask) return ask(message, era, std::move(call), judged);
  refuse_call(message.id, era, std::move(judged.refused));
}

bool Gate::take_approval(const Message& message, Era era, const Call& call) {
  const Json* const answers = message.params()->find("inputResponses");
  const std::string* const state = message.params()->find_text("requestState");
  if (!goes_on(message)) return false;
  if (state == nullptr || !Asks::is_ours(*state)) {
    if (!asks_.take_continued(state == nullptr ? std::string{} : *state, call)) return false;
    pass_call(message.line, era, call, "approved before", true);
    return true;
  }
  const bool is_same = asks_.take_state(*state, call);
  if (is_same && says_yes(answers == nullptr ? nullptr : answers->find(kAskKey))) {
    pass_call(without_answers(message), era, call, "approved", true);
  } else {
    refuse_call(message.id, era,
                judge_.refusal(call, "CORDON-TOOL-DECLINED",
                               is_same ? "a person was asked and did not allow it"
                                       : "it comes with an approval that is not one of this call, "
                                         "or was used already"));
  }
  return true;
}

void Gate::ask(const Message& message, Era era, Call call, const Judged& judged) {
  const std::string question = question_of(judge_.server(), call.tool, call.arguments, judged.why);
  const auto refuse = [&](std::string why) {
    Refused refused = judge_.refusal(call, "CORDON-TOOL-ASK", std::move(why));
    refused.rule = judged.rule;
    refuse_call(message.id, era, std::move(refused));
  };
  if (!can_ask(message, era))
    return refuse("a person has to be asked, and this client cannot ask (no `elicitation`)");
  if (era == Era::modern) {
    if (goes_on(message))
      return refuse("a person has to be asked, and it goes on with a call that nobody approved");
    acts_.emplace_back(ToClient{ask_result_line(message.id, question, asks_.state_for(call))});
    return;
  }
  const auto id = asks_.hold({call, message.line, judged.rule});
  if (!id) return refuse("a person has to be asked, and too many calls wait for that already");
  to_client(ask_request_line(*id, question));
}

}  // namespace cordon::mcp
