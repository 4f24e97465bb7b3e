// SPDX-License-Identifier: Apache-2.0
// Servers inside a sandbox, at the ports that its policy names.
#include <algorithm>
#include <charconv>

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/rest/port_exchange.h"
#include "api/rest/port_passage.h"
#include "api/rest/rest.h"
#include "async/deadline.h"
#include "async/unless.h"

namespace cordon::api {
namespace {

constexpr std::chrono::seconds kOpen{10};

wire::ProblemAnswer not_listed(std::uint16_t port, const std::vector<std::uint16_t>& listed) {
  const std::string rule = listed.empty()
                               ? "network.ingress = \"deny_all\""
                               : fmt::format("network.ingress = [{}]", fmt::join(listed, ", "));
  return {.status = 403,
          .code = "CORDON-API-DENIED",
          .detail = fmt::format("port {}: the policy of the sandbox says {}", port, rule),
          .remedy = fmt::format("make a sandbox whose policy lists the port: {{\"network\": "
                                "{{\"ingress\": [{}]}}}}",
                                port)};
}

// By who is to blame: the server inside, which is answered for.
wire::ProblemAnswer no_answer(std::uint16_t port, const Error& error) {
  wire::ProblemAnswer problem = wire::problem_of(error);
  problem.detail = fmt::format("port {}: {}", port, error.text());
  if (error.code() == Errc::timeout) return problem;
  problem.status = 502;
  problem.code = "CORDON-API-BAD-GATEWAY";
  problem.remedy = "look whether a server listens there, on 127.0.0.1 or ::1, and speaks HTTP/1.1";
  return problem;
}

}  // namespace

Result<std::uint16_t> port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) {
    return Error{Errc::invalid, "a port is a number from 1 to 65535"};
  }
  return port;
}

async::Task<PortWay> open_port(std::shared_ptr<node::Resident> resident, std::uint16_t port) {
  CO_TRY(auto tunnel, co_await async::within(kOpen, resident->sandbox().tunnel(port)));
  co_return PortWay{std::move(resident), port, std::move(tunnel)};
}

async::Task<void> pass_to_port(Call& call, PortWay way, std::string path, Credentials credentials) {
  const std::uint16_t port = way.port;
  PortExchange passing{co_await asio::this_coro::executor, call.exchange, std::move(way.tunnel),
                       call.id};
  auto passed = co_await async::unless(
      way.resident->until_shut(port), [&] { return !way.resident->lets_in(port); },
      passing.run(inner_head(call.exchange.head(), std::move(path), port, credentials)),
      Error{Errc::denied, "the sandbox's policy was narrowed, and lets nobody in there any more"});
  // A sandbox that breaks off is no failure of ours.
  if (!passed) call.exchange.break_off();
  co_return passed;
}

async::Task<void> Rest::proxy_port(Call& call) {
  CO_TRY(const auto resident, living(call));
  CO_TRY(const std::uint16_t port, port_of(call.places.at(1)));
  if (!resident->lets_in(port)) {
    co_return co_await answer_problem(call, not_listed(port, resident->lowered().ingress));
  }
  auto way = co_await open_port(resident, port);
  // Too many are open: that is the client's to mend.
  if (!way && way.error().code() == Errc::exhausted) co_return way.error();
  if (!way) co_return co_await answer_problem(call, no_answer(port, way.error()));
  const Status passed =
      co_await pass_to_port(call, *std::move(way), call.places.at(2), Credentials::ours);
  if (passed || call.exchange.is_answered() || call.exchange.has_faulty_body()) co_return passed;
  co_return co_await answer_problem(call, no_answer(port, passed.error()));
}

}  // namespace cordon::api
