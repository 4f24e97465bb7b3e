// SPDX-License-Identifier: Apache-2.0
// A sandbox of a service as a node's program has it: one coroutine uses it while it is served.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "async/block_on.h"
#include "async/deadline.h"
#include "async/scope.h"
#include "sandbox/process/launcher_link.h"
#include "sandbox/process/process_sandbox.h"
#include "service.h"

namespace cordon::service {

// What a process has said until its streams and itself have ended.
struct Said {
  std::string out;
  std::string err;
  std::uint32_t value = 0;
};
inline async::Task<Said> hear_all(sandbox::Process& process) {
  Said said;
  bool exited = false;
  int ends = 0;
  while (!exited || ends < 2) {
    CO_TRY(const sandbox::ProcessEvent event, co_await process.next());
    if (const auto* output = std::get_if<frame::Output>(&event)) {
      (output->stream == frame::Stream::out ? said.out : said.err) += output->bytes;
    } else if (const auto* exit = std::get_if<frame::Exited>(&event)) {
      said.value = exit->value;
      exited = true;
    } else if (std::holds_alternative<frame::OutputEnd>(event)) {
      ++ends;
    } else if (std::holds_alternative<frame::Failed>(event)) {
      co_return Error{Errc::internal, "the start has failed"};
    }
  }
  co_return said;
}

inline sandbox::Command shell_command(std::string script) {
  return {.arguments = {"sh", "-c", std::move(script)},
          .environment = {"PATH=/usr/bin:/bin"},
          .directory = "/"};
}

class RootServiceHosted : public RootService {
 protected:
  using Sandbox = sandbox::Sandbox;

  template <class T>
  T wait(asio::awaitable<T> task) {
    return async::block_on(loop_, std::move(task));
  }
  void connect() {
    auto link = wait(sandbox::LauncherLink::connect(socket()));
    ASSERT_TRUE(link) << link.error().text();
    launcher_link_ = std::make_unique<sandbox::LauncherLink>(*std::move(link));
  }
  std::unique_ptr<Sandbox> make(sandbox::LaunchedSandbox launched, sandbox::Origin origin) {
    return std::make_unique<sandbox::ProcessSandbox>(
        loop_.get_executor(), std::move(launched), origin,
        sandbox::ProcessSandbox::Ending{
            .destroy = [this](std::string id) { return launcher_link_->destroy(std::move(id)); }});
  }
  std::unique_ptr<Sandbox> launch(const frame::LaunchPlan& plan) {
    auto launched = wait(launcher_link_->launch(plan));
    EXPECT_TRUE(launched) << launched.error().text();
    return launched ? make(*std::move(launched), sandbox::Origin::launched) : nullptr;
  }
  std::unique_ptr<Sandbox> fetch(const std::string& id) {
    auto fetched = wait(launcher_link_->fetch(id));
    EXPECT_TRUE(fetched) << fetched.error().text();
    return fetched ? make(*std::move(fetched), sandbox::Origin::fetched) : nullptr;
  }

  // Runs `body(sandbox, args...)`, a function or a lambda without captures, for at most 30 seconds.
  template <class Body, class... Args>
  void use(Sandbox& sandbox, Body body, Args... args) {
    Status done = wait(async::within(
        std::chrono::seconds{30}, [](Sandbox& used, Body act, Args... with) -> async::Task<void> {
          co_return co_await async::in_scope(
              [](async::Scope& scope, Sandbox*& inner, Body& run,
                 Args&... each) -> asio::awaitable<Status> {
                scope.spawn(inner->serve());
                Status status = co_await run(*inner, each...);
                inner->abandon();
                co_return status;
              },
              &used, std::move(act), std::move(with)...);
        }(sandbox, std::move(body), std::move(args)...)));
    EXPECT_TRUE(done) << done.error().text();
  }

  asio::io_context loop_{1};
  std::unique_ptr<sandbox::LauncherLink> launcher_link_;
};

}  // namespace cordon::service
