// SPDX-License-Identifier: Apache-2.0
#include "sandbox/process/process_sandbox.h"

#include <csignal>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/borrowed_fd.h"
#include "async/deadline.h"
#include "os/cgroup_usage.h"
#include "os/pidfd.h"

namespace cordon::sandbox {
namespace {

constexpr std::chrono::seconds kEnd{4};
constexpr int kTries = 1000;  // milliseconds

using Link = std::shared_ptr<GuestLink>;

// Each keeps the link until it has ended, whatever becomes of the sandbox meanwhile.
async::Task<ProcessEvent> next_of(Link link, std::uint32_t number) {
  co_return co_await link->processes().next(number);
}
async::Task<void> write_to(Link link, std::uint32_t number, std::string bytes, bool last) {
  co_return co_await link->processes().write(number, std::move(bytes), last);
}
template <class Wanted>
async::Task<frame::FileReply> ask_for_file(Link link, Wanted wanted) {
  co_return co_await link->files().ask(std::move(wanted));
}

class GuestProcess final : public Process {
 public:
  GuestProcess(Link link, std::uint32_t number) : link_{std::move(link)}, number_{number} {}
  GuestProcess(const GuestProcess&) = delete;
  GuestProcess& operator=(const GuestProcess&) = delete;
  ~GuestProcess() override { link_->processes().leave(number_); }

  std::uint32_t number() const noexcept override { return number_; }
  async::Task<ProcessEvent> next() override { return next_of(link_, number_); }
  void acknowledge(frame::Stream stream, std::uint64_t offset) override {
    link_->processes().acknowledge(number_, stream, offset);
  }
  void acknowledge_exit() override { link_->processes().acknowledge_exit(number_); }
  async::Task<void> write(std::string bytes, bool last) override {
    return write_to(link_, number_, std::move(bytes), last);
  }
  void signal(int number, frame::SignalTo to) override {
    link_->processes().signal(number_, number, to);
  }
  void resize(frame::WindowSize size) override { link_->processes().resize(number_, size); }

 private:
  Link link_;
  std::uint32_t number_;
};

frame::GroupUse use_of(const std::vector<std::string>& groups) {
  const os::CgroupUsage usage = os::read_cgroup_usage(groups);
  frame::GroupUse use{.memory_peak = usage.memory_peak,
                      .oom_kills = usage.oom_kills,
                      .pids_peak = usage.pids_peak,
                      .pids_refused = usage.pids_refused};
  if (usage.cpu) use.cpu_microseconds = static_cast<std::uint64_t>(usage.cpu->count());
  return use;
}

async::Task<void> wait_for(asio::posix::stream_descriptor& pidfd) {
  co_await pidfd.async_wait(asio::posix::descriptor_base::wait_read,
                            asio::as_tuple(asio::use_awaitable));
  co_return Status{};
}

}  // namespace

ProcessSandbox::ProcessSandbox(const asio::any_io_executor& executor, LaunchedSandbox launched,
                               Origin origin, Ending ending)
    : about_{std::move(launched.about)},
      pidfd_{executor},
      range_{std::move(launched.range)},
      witness_{std::move(launched.witness)},
      sockets_{std::move(launched.sockets)},
      link_{std::make_shared<GuestLink>(executor, std::move(launched.control), origin)},
      ending_{std::move(ending)} {
  if (launched.pidfd) pidfd_.assign(launched.pidfd.release());
}

std::unique_ptr<Process> ProcessSandbox::start(Command command) {
  return std::make_unique<GuestProcess>(link_, link_->processes().start(std::move(command)));
}

std::unique_ptr<Process> ProcessSandbox::adopt(std::uint32_t number, Acknowledging acknowledging) {
  if (!link_->processes().adopt(number, acknowledging)) return nullptr;
  return std::make_unique<GuestProcess>(link_, number);
}

Result<LaunchedSandbox> ProcessSandbox::copies() const {
  LaunchedSandbox copies{.about = {.id = about_.id, .tenant = about_.tenant}};
  TRY(copies.control, link_->copy_stream());
  if (range_) {
    TRY(copies.range, os::duplicate(range_));
  }
  if (sockets_.tcp && sockets_.udp) {
    TRY(copies.sockets.tcp, os::duplicate(sockets_.tcp));
    TRY(copies.sockets.udp, os::duplicate(sockets_.udp));
  }
  return copies;
}

async::Task<frame::FileReply> ProcessSandbox::file(frame::FileRequest request) {
  return ask_for_file(link_, std::move(request));
}

async::Task<frame::FileReply> ProcessSandbox::write_tree(frame::WriteTree tree) {
  return ask_for_file(link_, std::move(tree));
}

async::Task<frame::FileReply> ProcessSandbox::read_tree(frame::ReadTree tree) {
  return ask_for_file(link_, std::move(tree));
}

async::Task<frame::Ended> ProcessSandbox::destroy() {
  auto ended = co_await async::within(kEnd, ending_.destroy(about_.id));
  if (!ended && !ending_.alone) co_return ended;
  link_->close();
  if (!ended) ended = co_await bury_alone();
  co_return ended;
}

// The launcher has died. Pid 1 ends with our end of its stream, since nobody else holds it; what
// the launcher would have removed is ours to remove.
async::Task<frame::Ended> ProcessSandbox::bury_alone() {
  if (pidfd_.is_open()) {
    static_cast<void>(os::pidfd_send_signal(*async::BorrowedFd{pidfd_}, SIGKILL));
    static_cast<void>(co_await async::within(kEnd, wait_for(pidfd_)));
  }
  frame::Ended ended{.id = about_.id};
  ended.use = use_of(about_.groups);
  for (const std::string& group : about_.groups) CO_TRY_DO(os::remove_group(group, kTries));
  co_return ended;
}

}  // namespace cordon::sandbox
