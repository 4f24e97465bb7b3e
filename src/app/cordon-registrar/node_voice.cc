// SPDX-License-Identifier: Apache-2.0
#include "node_voice.h"

#include <chrono>
#include <memory>

#include "async/deadline.h"
#include "async/scope.h"
#include "http/client.h"
#include "os/socket.h"

namespace cordon::registrar {
namespace {

using fleet::Registrar;

constexpr std::chrono::seconds kAnswers{2};
constexpr std::size_t kLargest = std::size_t{1} << 20U;

struct Job {
  std::string socket;
  Registrar::Question question;
};

asio::awaitable<void> watch(std::shared_ptr<http::Client> client) { co_await client->watch(); }

async::Task<Registrar::Said> ask_in(async::Scope& scope, Job& job) {
  CO_TRY(const os::UnixAddress address, os::UnixAddress::at_path(job.socket));
  CO_TRY(os::Fd socket, os::unix_connect(address, os::SocketType::stream));
  // Its two owners: this, and its watch.
  const auto client = std::make_shared<http::Client>(
      co_await asio::this_coro::executor, std::move(socket),
      http::Authority{.host = "localhost", .port = {}}, http::ClientTimes{.head = kAnswers});
  scope.spawn(watch(client));
  const auto ask = [](http::Client& with, Job& of) -> async::Task<Registrar::Said> {
    const Registrar::Question& question = of.question;
    CO_TRY_DO(co_await with.send(question.method, question.path, {}, question.body));
    CO_TRY(const http::ResponseHead head, co_await with.head());
    CO_TRY(std::string body, co_await with.read_body(kLargest));
    co_return Registrar::Said{.status = head.status, .body = std::move(body)};
  };
  auto said = co_await ask(*client, job);
  client->stop();
  co_return said;
}

}  // namespace

async::Task<Registrar::Said> ask_node(std::string socket, Registrar::Question question) {
  auto asked = async::in_scope(ask_in, Job{std::move(socket), std::move(question)});
  co_return co_await async::within(kAnswers, std::move(asked));
}

}  // namespace cordon::registrar
