// SPDX-License-Identifier: Apache-2.0
// The filter between a client and its server: what passes, as it came, and what is answered
// instead. It computes; whoever holds it moves the bytes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/minute_window.h"
#include "mcp/answers.h"
#include "mcp/asks.h"
#include "mcp/filter_frame.h"
#include "mcp/judge.h"
#include "mcp/line_cutter.h"
#include "mcp/message.h"
#include "mcp/pins.h"

namespace cordon::mcp {

class Gate {
 public:
  // Requests of the client that the server has not answered, and the other way.
  static constexpr std::size_t kMostFlights = 256;
  static constexpr std::size_t kMostServerFlights = 64;
  // A minute, where they are let.
  static constexpr std::uint64_t kServerRequests = 60;

  Gate(const Setup& setup, policy::Policy policy);
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // What is to be done about bytes that have come, in this order.
  std::vector<FromFilter> from_client(std::string_view bytes, Ticks now);
  std::vector<FromFilter> from_server(std::string_view bytes, Ticks now);

 private:
  // A request that the server has.
  struct Flight {
    std::string method;
    Era era = Era::legacy;
    Call call;              // of tools/call
    bool approved = false;  // by a person
  };

  void client_line(const CutLine& line);
  void client_request(Message message);
  void client_notification(const Message& message);
  void client_response(const Message& message);
  void client_call(const Message& message, Era era);
  void ask(const Message& message, Era era, Call call, const Judged& judged);
  // True: it brought an answer of a person, and is dealt with.
  bool take_approval(const Message& message, Era era, const Call& call);
  void pass_call(std::string_view line, Era era, Call call, std::string rule, bool approved);

  void server_line(const CutLine& line);
  void server_request(const Message& message);
  void server_response(const Message& message);
  void server_refused(const ReadMessage& read);
  void list_tools(const Message& message);
  // Empty: the server asks the client for nothing that it may not.
  std::string unasked_input(const Json& result) const;
  void take_result(const Message& message, const Flight& flight);

  bool is_in_use(const std::string& id) const { return flights_.contains(id) || asks_.holds(id); }
  void learn_capabilities(const Message& message);
  bool can_ask(const Message& message, Era era) const;
  void refuse_call(const std::string& id, Era era, Refused refused);
  void refuse_line(std::string_view who, std::string why);
  void to_client(std::string_view bytes) { send<ToClient>(bytes); }
  void to_server(std::string_view bytes) { send<ToServer>(bytes); }
  template <class To>
  void send(std::string_view bytes) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kMostBytes)))
      acts_.emplace_back(To{std::string{bytes.substr(0, kMostBytes)}});
  }
  void pass_to_client(const Message& message) {
    to_client(message.line);
    to_client("\n");
  }
  void pass_to_server(const Message& message) {
    to_server(message.line);
    to_server("\n");
  }

  LineCutter client_lines_;
  LineCutter server_lines_;
  std::uint64_t longest_line_;
  std::set<std::string> let_;
  PinBook pins_;
  Judge judge_;
  Asks asks_;
  MinuteWindow server_requests_{kServerRequests};
  std::map<std::string, Flight> flights_;  // by id
  std::set<std::string> server_flights_;   // ids
  bool client_elicits_ = false;            // of the legacy era
  Ticks now_{};
  std::vector<FromFilter> acts_;
};

}  // namespace cordon::mcp
