// SPDX-License-Identifier: Apache-2.0
// The gate's other side: what the server says.
#include <fmt/format.h>

#include "mcp/gate.h"
#include "policy/text.h"

namespace cordon::mcp {
namespace {

bool wants_input(const Json* result) {
  const std::string* const type = result == nullptr ? nullptr : result->find_text("resultType");
  return type != nullptr && *type == "input_required";
}

}  // namespace

std::vector<FromFilter> Gate::from_server(std::string_view bytes, Ticks now) {
  now_ = now;
  for (const CutLine& line : server_lines_.push(bytes)) server_line(line);
  return std::exchange(acts_, {});
}

void Gate::server_line(const CutLine& line) {
  if (line.too_long) {
    const std::string why = fmt::format(
        "it is longer than {} bytes; a longer one may pass with --max-line", longest_line_);
    refuse_line("server", why);
    // Whose answer it was stands in what is gone.
    if (flights_.size() != 1) {
      acts_.emplace_back(Broken{"the server sent a line that nobody can assign: " + why});
      return;
    }
    to_client(error_line(flights_.begin()->first, kServerError,
                         "cordon: the server's answer is refused: " + why));
    flights_.clear();
    return;
  }
  if (line.is_blank()) return;
  const ReadMessage read = read_message(line.text, Numbers::any);
  if (!read.refused.empty()) return server_refused(read);
  switch (read.message.kind) {
    case MessageKind::request:
      return server_request(read.message);
    case MessageKind::response:
      return server_response(read.message);
    case MessageKind::notification:
      if (!read.message.method.starts_with("notifications/"))
        return refuse_line("server", "it is a request without an id");
      return pass_to_client(read.message);
  }
}

void Gate::server_refused(const ReadMessage& read) {
  refuse_line("server", read.refused);
  const auto flight = read.is_response ? flights_.find(read.id) : flights_.end();
  if (flight == flights_.end()) return;
  to_client(
      error_line(read.id, kServerError, "cordon: the server's answer is refused: " + read.refused));
  flights_.erase(flight);
}

void Gate::server_request(const Message& message) {
  const auto refuse = [&](int code, std::string why, std::string fix) {
    to_server(error_line(message.id, code, "cordon: " + why));
    acts_.emplace_back(Refused{.code = "CORDON-MCP-REQUEST",
                               .tried = "the server asks for " + policy::printable(message.method),
                               .rule = "default",
                               .why = std::move(why),
                               .fix = std::move(fix)});
  };
  const bool is_ping = message.method == "ping";
  if (!is_ping && !let_.contains(message.method)) {
    return refuse(kNoMethod, "a server may not ask its client for this",
                  fmt::format("--let {}", policy::printable(message.method)));
  }
  if (server_flights_.contains(message.id) || Asks::is_ours(message.id.substr(1)))
    return refuse(kInvalidRequest, "its id is in use already", {});
  if (server_flights_.size() >= kMostServerFlights || !server_requests_.take(now_))
    return refuse(kServerError, "a server may not ask its client so often", {});
  server_flights_.insert(message.id);
  pass_to_client(message);
}

void Gate::server_response(const Message& message) {
  auto node = flights_.extract(message.id);
  if (node.empty()) return refuse_line("server", "it answers a request that nobody made");
  const Flight& flight = node.mapped();
  if (flight.method == "tools/list" && message.result() != nullptr) return list_tools(message);
  take_result(message, flight);
}

std::string Gate::unasked_input(const Json& result) const {
  const Json* const requests = result.find("inputRequests");
  if (requests == nullptr) return {};
  for (const JsonMember& member : requests->members) {
    const std::string* const method = member.value.find_text("method");
    if (method == nullptr || !let_.contains(*method))
      return method == nullptr ? "something that has no name" : policy::printable(*method);
  }
  return {};
}

void Gate::take_result(const Message& message, const Flight& flight) {
  const Json* const result = message.result();
  if (!wants_input(result)) return pass_to_client(message);
  if (const std::string method = unasked_input(*result); !method.empty()) {
    Refused refused{.code = "CORDON-MCP-REQUEST",
                    .tried = "the server asks for " + method,
                    .rule = "default",
                    .why = "a server may not ask its client for this",
                    .fix = "--let " + method};
    if (!flight.call.tool.empty()) return refuse_call(message.id, flight.era, std::move(refused));
    to_client(error_line(message.id, kServerError, "cordon: " + refused.why));
    acts_.emplace_back(std::move(refused));
    return;
  }
  const std::string* const state = result->find_text("requestState");
  if (flight.approved) asks_.let_continue(state == nullptr ? std::string{} : *state, flight.call);
  pass_to_client(message);
}

void Gate::list_tools(const Message& message) {
  const Json& result = *message.result();
  const Json* const tools = result.find("tools");
  if (tools == nullptr || tools->kind != JsonKind::list) return pass_to_client(message);
  std::string kept;
  std::size_t left_out = 0;
  for (const Json& tool : tools->items) {
    const std::string* const name = tool.find_text("name");
    // Seen, whether it may be called or not: what it was is what it is compared with later.
    const bool is_pinned = pins_.see(tool, message.line, acts_);
    if (!is_pinned || name == nullptr || judge_.is_refused(*name)) {
      ++left_out;
      continue;
    }
    if (!kept.empty()) kept += ',';
    kept += tool.in(message.line);
  }
  if (result.find("nextCursor") == nullptr) pins_.end_list(acts_);
  if (left_out == 0) return pass_to_client(message);
  const std::string_view line = message.line;
  to_client(fmt::format("{}[{}]{}\n", line.substr(0, tools->begin), kept, line.substr(tools->end)));
}

}  // namespace cordon::mcp
