// SPDX-License-Identifier: Apache-2.0
#include "sandbox/process/process_backend.h"

#include <csignal>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/deadline.h"
#include "os/cgroup_usage.h"
#include "os/pidfd.h"
#include "sandbox/guest_link.h"

namespace cordon::sandbox {
namespace {

class GuestProcess final : public Process {
 public:
  GuestProcess(GuestLink& link, std::uint32_t number) : link_{link}, number_{number} {}

  async::Task<ProcessEvent> next() override { return link_.next(number_); }
  async::Task<void> write(std::string bytes, bool last) override {
    return link_.write(number_, std::move(bytes), last);
  }
  void signal(int number, frame::SignalTo to) override { link_.signal(number_, number, to); }
  void resize(frame::WindowSize size) override { link_.resize(number_, size); }

 private:
  GuestLink& link_;
  std::uint32_t number_;
};

class ProcessSandbox final : public Sandbox {
 public:
  ProcessSandbox(const asio::any_io_executor& executor, LocalLauncher& launcher,
                 LaunchedSandbox launched)
      : launcher_{launcher},
        about_{std::move(launched.about)},
        pidfd_{std::move(launched.pidfd)},
        range_{std::move(launched.range)},
        link_{executor, std::move(launched.control)} {}

  asio::awaitable<void> serve() override { return link_.serve(); }
  std::unique_ptr<Process> start(Command command) override {
    return std::make_unique<GuestProcess>(link_, link_.start(std::move(command)));
  }
  async::Task<frame::Usage> usage() override { return link_.usage(); }
  void abandon() override { link_.close(); }
  async::Task<frame::Ended> destroy() override {
    auto ended = co_await async::within(kEnd, launcher_.destroy(about_.id));
    link_.close();
    if (!ended) ended = co_await bury_alone();
    co_return ended;
  }
  const std::vector<std::string>& groups() const noexcept override { return about_.groups; }
  std::uint32_t pid() const noexcept override { return about_.pid; }

 private:
  // The launcher has died. Pid 1 ends with our end of its stream, since nobody else holds it; what
  // the launcher would have removed is ours to remove.
  async::Task<frame::Ended> bury_alone() {
    const auto executor = co_await asio::this_coro::executor;
    static_cast<void>(os::pidfd_send_signal(pidfd_, SIGKILL));
    asio::posix::stream_descriptor end{executor, pidfd_.release()};
    static_cast<void>(co_await async::within(kEnd, wait_for(end)));
    const os::CgroupUsage usage = os::read_cgroup_usage(about_.groups);
    for (const std::string& group : about_.groups) CO_TRY_DO(os::remove_group(group, kTries));
    frame::Ended ended{.id = about_.id};
    ended.use = {.memory_peak = usage.memory_peak,
                 .oom_kills = usage.oom_kills,
                 .pids_peak = usage.pids_peak,
                 .pids_refused = usage.pids_refused};
    co_return ended;
  }
  static async::Task<void> wait_for(asio::posix::stream_descriptor& pidfd) {
    co_await pidfd.async_wait(asio::posix::descriptor_base::wait_read,
                              asio::as_tuple(asio::use_awaitable));
    co_return Status{};
  }

  static constexpr std::chrono::seconds kEnd{4};
  static constexpr int kTries = 1000;  // milliseconds

  LocalLauncher& launcher_;
  frame::Launched about_;
  os::Fd pidfd_;
  os::Fd range_;
  GuestLink link_;
};

}  // namespace

async::Task<std::unique_ptr<Sandbox>> ProcessBackend::create(frame::LaunchPlan plan) {
  CO_TRY(LaunchedSandbox launched, co_await launcher_.launch(plan));
  std::unique_ptr<Sandbox> sandbox =
      std::make_unique<ProcessSandbox>(executor_, launcher_, std::move(launched));
  co_return sandbox;
}

}  // namespace cordon::sandbox
