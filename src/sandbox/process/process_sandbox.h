// SPDX-License-Identifier: Apache-2.0
// A sandbox of the process tier: a guest at the end of a stream, and somebody who can end it.
#pragma once

#include <csignal>
#include <functional>
#include <memory>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "os/fd.h"
#include "sandbox/guest_link.h"
#include "sandbox/process/launcher_link.h"
#include "sandbox/sandbox.h"

namespace cordon::sandbox {

class ProcessSandbox final : public Sandbox {
 public:
  struct Ending {
    // Asks whoever launched it.
    std::function<async::Task<frame::Ended>(std::string id)> destroy;
    // Where that fails we are its only holder, and end it and remove its groups ourselves: for who
    // may.
    bool alone = false;
  };
  ProcessSandbox(const asio::any_io_executor& executor, LaunchedSandbox launched, Origin origin,
                 Ending ending);
  ProcessSandbox(const ProcessSandbox&) = delete;
  ProcessSandbox& operator=(const ProcessSandbox&) = delete;

  asio::awaitable<void> serve() override { return link_->serve(); }
  Error why_ended() const override { return link_->why_ended(); }
  std::unique_ptr<Process> start(Command command) override;
  async::Task<frame::Processes> processes() override { return link_->processes().known(); }
  std::unique_ptr<Process> adopt(std::uint32_t number, Acknowledging acknowledging) override;
  async::Task<frame::FileReply> file(frame::FileRequest request) override;
  async::Task<frame::FileReply> write_tree(frame::WriteTree tree) override;
  async::Task<frame::FileReply> read_tree(frame::ReadTree tree) override;
  async::Task<std::unique_ptr<Tunnel>> tunnel(std::uint16_t port) override {
    return link_->tunnels().open(port, link_);
  }
  async::Task<std::unique_ptr<Watch>> watch(frame::StartWatch wanted) override {
    return link_->watches().begin(std::move(wanted), link_);
  }
  async::Task<frame::Usage> usage() override { return link_->usage(); }
  void stand_still() override { link_->processes().signal_all(SIGSTOP); }
  void go_on() override { link_->processes().signal_all(SIGCONT); }
  void abandon() override { link_->close(); }
  async::Task<frame::Ended> destroy() override;
  const std::vector<std::string>& groups() const noexcept override { return about_.groups; }
  std::uint32_t pid() const noexcept override { return about_.pid; }
  os::Fd take_witness() noexcept override { return std::move(witness_); }
  void when_traced(std::function<void(const frame::Traced&)> act) override {
    link_->when_traced(std::move(act));
  }

  // What a launcher needs to keep it for another node. An Error: it has ended.
  Result<LaunchedSandbox> copies() const;

  // For who may outlive the sandbox.
  std::weak_ptr<GuestLink> link() const noexcept { return link_; }
  // It was launched with a process, which can be adopted; before anything is started.
  void expect_standby() { link_->processes().expect_standby(); }
  // Lives as long as the sandbox.
  void keep(std::shared_ptr<void> kept) noexcept { kept_ = std::move(kept); }

 private:
  async::Task<frame::Ended> bury_alone();

  frame::Launched about_;
  asio::posix::stream_descriptor pidfd_;  // of pid 1; closed where it was deposited
  os::Fd range_;
  os::Fd witness_;
  os::SteeredSockets sockets_;
  std::shared_ptr<GuestLink> link_;
  Ending ending_;
  std::shared_ptr<void> kept_;
};

}  // namespace cordon::sandbox
