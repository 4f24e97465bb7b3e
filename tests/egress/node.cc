// SPDX-License-Identifier: Apache-2.0
// A node for tests: `cordon run`, with its policy and its grants in the hands of whoever writes to
// its standard input. Launcher, egress, broker and sandbox are the real ones.
//
//   egress_node POLICY COMMAND...
//
//   serve POLICY    the sandbox's network is that of another policy from now on
//   serve POLICY ADDRESS    ... and when it holds a datagram is sent there
//   mark ADDRESS    sends such a datagram
//   break           the same, with a policy that cannot be read
//   revoke GRANT    takes a credential back
//
// Each is answered by a line: "ok MILLISECONDS", or "error TEXT". The end of its input ends it.
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <sstream>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>

#include "async/block_on.h"
#include "async/scope.h"
#include "async/waiting.h"
#include "cli/grant_secret.h"
#include "cli/host_cache.h"
#include "cli/run_prepare.h"
#include "node/credentials.h"
#include "node/network.h"
#include "node/run.h"
#include "node/trust_bundle.h"
#include "plan/trust.h"
#include "sandbox/process/local_launcher.h"
#include "sandbox/process/process_backend.h"

namespace cordon {
namespace {

cli::Context make_context() {
  return {.out = std::cout,
          .err = std::cerr,
          .environment = [](const std::string& name) -> std::optional<std::string> {
            // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
            const char* const value = std::getenv(name.c_str());
            return value == nullptr ? std::nullopt : std::optional<std::string>{value};
          }};
}

Result<cli::PreparedRun> prepare(const cli::Context& context, const HostFacts& host,
                                 const std::string& policy, std::vector<std::string> command) {
  cli::WhyNot why;
  cli::RunOptions options;
  options.policy = policy;
  options.no_monitor = true;  // nobody here answers what the filter tells
  options.command = std::move(command);
  auto run = cli::prepare_run(options, context, host, why);
  for (const policy::Problem& problem : why.problems.all()) {
    std::cerr << to_string(problem) << '\n';
  }
  return run;
}

class TestNode final : public node::RunFace {
 public:
  TestNode(const asio::any_io_executor& executor, sandbox::LocalLauncher& launcher,
           const cli::Context& context, const HostFacts& host, cli::PreparedRun run)
      : launcher_{launcher},
        context_{context},
        host_{host},
        run_{std::move(run)},
        backend_{executor, launcher},
        network_{executor, [this] { return launcher_.open_egress(); },
                 run_.lowered.network.value_or(frame::Serve{}),
                 node::NetworkEars{.refused =
                                       [](const frame::NetRefused& refused) {
                                         std::cerr << "refused " << refused.code << ' '
                                                   << refused.tried << ": " << refused.why << " ("
                                                   << refused.rule << ")\n";
                                       },
                                   .used = [](std::span<const frame::NetUsed>) {}}},
        input_{executor, ::fcntl(0, F_DUPFD_CLOEXEC, 3)} {
    if (run_.grants.empty()) return;
    for (const node::HeldGrant& held : run_.grants) {
      plan::add_variable(run_.lowered, held.grant.env, held.placeholder);
    }
    credentials_.emplace(
        executor, run_.id.text(), run_.grants,
        node::CredentialSources{
            .read = [this](const policy::Grant& grant) { return own_secret(grant); },
            .open = [this] { return launcher_.open_broker(); },
            .connect = [this](os::Fd fd) { return network_.use_broker(std::move(fd)); },
            .used = [](const frame::GrantUsed&) {}});
    network_.when_replaced([this] { return credentials_->reconnect(); });
  }

  async::Task<node::RunOutcome> run(async::Scope& scope, std::vector<std::string> command) {
    CO_TRY(const frame::Serving serving, co_await network_.start());
    std::optional<node::TrustBundle> bundle;
    if (!serving.certificate.empty()) {
      CO_TRY(node::TrustBundle made,
             node::TrustBundle::write(run_.state, run_.id, serving.certificate));
      plan::add_authorities(run_.lowered, made.path(), made.system());
      bundle.emplace(std::move(made));
    }
    if (credentials_) {
      CO_TRY_DO(co_await credentials_->start(scope));
      scope.spawn(credentials_->keep(scope));
    }
    scope.spawn(network_.keep());
    CO_TRY(const auto made, co_await backend_.create(run_.lowered.plan));
    sandbox::Command what{.arguments = std::move(command),
                          .environment = run_.lowered.environment,
                          .directory = run_.lowered.directory};
    co_return co_await node::run(*made, run_.lowered, std::move(what), *this);
  }

  void begin(sandbox::Process&) override {}
  async::Task<void> output(frame::Stream, std::string bytes) override {
    std::cerr << bytes << std::flush;
    co_return Status{};
  }
  asio::awaitable<void> pump_input(sandbox::Process&) override { co_return; }

  // As long as somebody tells us what to do.
  asio::awaitable<void> until_stopped() override {
    std::string text;
    for (;;) {
      const auto [error, size] =
          co_await asio::async_read_until(input_, asio::dynamic_buffer(text), '\n', async::kQuiet);
      if (error) co_return;
      const std::string line = text.substr(0, size - 1);
      text.erase(0, size);
      const auto begun = std::chrono::steady_clock::now();
      const Status done = co_await obey(line);
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - begun;
      if (done) std::cout << "ok " << took.count() << '\n';
      if (!done) std::cout << "error " << done.error().text() << '\n';
      std::cout.flush();
    }
  }

 private:
  async::Task<node::SecretPlace> own_secret(const policy::Grant& grant) {
    CO_TRY(WipedBytes secret, read_secret(grant, context_));
    co_return node::SecretPlace{.secret = std::move(secret)};
  }

  async::Task<void> obey(std::string line) {
    std::istringstream words{line};
    std::string verb;
    std::string what;
    words >> verb >> what;
    if (verb == "revoke" && credentials_) co_return co_await credentials_->revoke(what);
    if (verb == "mark") co_return mark(what);
    if (verb == "break") co_return co_await network_.change({.id = run_.id.text()});
    if (verb != "serve") co_return Error{Errc::invalid, "what is " + line + "?"};
    CO_TRY(cli::PreparedRun other, prepare(context_, host_, what, {"true"}));
    frame::Serve serve = other.lowered.network.value_or(frame::Serve{});
    serve.id = run_.id.text();
    CO_TRY_DO(co_await network_.change(std::move(serve)));
    std::string then;
    if (words >> then) co_return mark(then);
    co_return Status{};
  }

  // A datagram that goes nowhere: whoever counts packets on this host sees what was sent before it
  // and what after.
  Status mark(const std::string& address) {
    boost::system::error_code error;
    asio::ip::udp::socket socket{input_.get_executor(), asio::ip::udp::v4()};
    const asio::ip::udp::endpoint to{asio::ip::make_address(address, error), 9};
    // Dropped by whoever counts, which a sender is told.
    socket.send_to(asio::buffer("mark", 4), to, 0, error);
    return {};
  }

  sandbox::LocalLauncher& launcher_;
  const cli::Context& context_;
  const HostFacts& host_;
  cli::PreparedRun run_;
  sandbox::ProcessBackend backend_;
  node::Network network_;
  std::optional<node::Credentials> credentials_;
  asio::posix::stream_descriptor input_;
};

Result<node::RunOutcome> act(const std::string& policy, const std::vector<std::string>& command) {
  const cli::Context context = make_context();
  const HostFacts host = cli::known_host_facts(context);
  TRY(cli::PreparedRun run, prepare(context, host, policy, command));
  if (!run.lowered.network) return Error{Errc::invalid, "the policy has no network"};
  asio::io_context loop{1};
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  TRY(auto launcher,
      sandbox::LocalLauncher::start(loop.get_executor(), (here / "cordon-launcher").string(),
                                    !host.root && host.has(Feature::id_ranges)));
  TestNode node{loop.get_executor(), launcher, context, host, std::move(run)};
  return async::block_on(loop,
                         async::in_scope(
                             [](async::Scope& scope, TestNode* self,
                                std::vector<std::string>& what) -> async::Task<node::RunOutcome> {
                               auto outcome = co_await self->run(scope, what);
                               scope.cancel();
                               co_return outcome;
                             },
                             &node, command));
}

}  // namespace
}  // namespace cordon

// NOLINTNEXTLINE(bugprone-exception-escape): then it ends, and the test says so
int main(int argc, char** argv) {
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  if (argc < 3) {
    std::cerr << "egress_node POLICY COMMAND...\n";
    return 2;
  }
  const auto outcome = cordon::act(argv[1], {argv + 2, argv + argc});
  if (!outcome) std::cerr << "egress_node: " << outcome.error().text() << '\n';
  return outcome ? 0 : 1;
}
