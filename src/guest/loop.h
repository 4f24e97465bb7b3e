// SPDX-License-Identifier: Apache-2.0
// The guest's state and its loop. Frames are judged in frames.cc and aside.cc, ends of processes in
// reap.cc.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "frame/guest.h"
#include "guest/control.h"
#include "guest/file_acts.h"
#include "guest/guest.h"
#include "guest/oom_kills.h"
#include "guest/process.h"
#include "guest/starter.h"
#include "guest/stillness.h"
#include "guest/tunnels.h"
#include "guest/watches.h"
#include "os/epoll.h"
#include "os/fd.h"

struct rusage;

namespace cordon::guest {

// Of a frame that no host sends; it ends the guest.
inline Error nonsense(const char* what) { return Error{Errc::invalid, what}; }

class Loop {
 public:
  Loop(Control control, os::Fd children, os::Epoll epoll, const GuestOptions& options);

  // Turns until the guest has to end.
  GuestEnd turn();

 private:
  // loop.cc
  Status watch_fixed();
  Status dispatch(const os::EpollEvent& event);
  Status after_events();
  Status read_control();
  void switch_control(os::Fd control);
  Status write_control();
  bool collect_owed();
  void watch_control();
  std::optional<std::chrono::milliseconds> patience() const;

  // frames.cc: what the host says. An error is the end.
  Status on_body(std::span<const std::byte> body);
  Status on_frame(frame::Setup&& setup);
  Status on_frame(const frame::Tree& tree);
  Status settle();
  // Open, so that nobody inside can put another directory in its place: before anything of a
  // workload is done. In a machine, which asks its host for each name, not before that is asked
  // for.
  Status hold_disk();
  Status begin_standby(const frame::Start& standby);
  Status on_frame(const frame::Start& start);
  Status on_frame(const frame::Input& input);
  Status on_frame(const frame::Signal& signal);
  Status on_frame(const frame::Resize& resize);
  Status on_frame(const frame::Acknowledge& acknowledge);
  Status on_frame(const frame::AcknowledgeExit& acknowledge);
  Status on_frame(const frame::Resume& resume);
  Status on_frame(const frame::AskUsage& ask);
  Status on_frame(const frame::Wake& wake);

  // aside.cc: what is done beside the programs.
  Status on_frame(const frame::FileRequest& request);
  Status on_frame(const frame::WriteTree& tree);
  Status on_frame(const frame::ReadTree& tree);
  Status begin_file_act(std::uint32_t request);
  Status on_frame(const frame::OpenTunnel& open);
  Status on_frame(const frame::TunnelData& data);
  Status on_frame(const frame::TunnelEnd& end);
  Status on_frame(const frame::TunnelTaken& taken);
  Status on_frame(const frame::CloseTunnel& close);
  Status on_frame(const frame::StartWatch& start);
  Status on_frame(const frame::StopWatch& stop);
  // Nobody waits for any of it any more.
  void abandon_aside();

  // reap.cc: what becomes of processes.
  Status reap();
  Status reaped(pid_t pid, int status, const ::rusage& use);
  Status on_start_events(std::vector<StartEvent> events);
  Status on_start_event(StartEvent event);
  void kill_all(int signal);
  // Of one that we have been told of.
  bool is_program(pid_t pid) const;
  // All but us and what serves files, until SIGCONT comes for all.
  Status stand_still();
  frame::DiskUse disk_use() const;
  std::uint32_t count_processes() const;
  std::uint64_t count_born() const;

  Process* find(std::uint32_t number);
  frame::Processes known_processes() const;
  void reply(const frame::FromGuest& frame);
  // Tells the host why the guest ends.
  Error fall(std::string step, int error_number);

  Control control_;
  os::Fd children_;
  os::Epoll epoll_;
  GuestOptions options_;

  frame::FrameCutter cutter_;
  std::span<const std::byte> body_;  // of the frame at hand
  std::optional<frame::Setup> setup_;
  os::Fd disk_;
  std::optional<OomKills> oom_kills_;  // where the kernel is the sandbox's own
  Starter starter_;
  bool tree_stands_ = true;
  bool stands_ = false;  // the first spawner was ready
  std::map<std::uint32_t, Process> processes_;
  std::uint32_t highest_ = 0;  // of their numbers, ever
  FileActs files_;
  Tunnels tunnels_;
  Watches watches_;
  Stillness stillness_{[this](pid_t pid) { return is_program(pid); }};

  bool hello_owed_ = false;
  std::vector<std::byte> replies_;  // frames that are sent once
  std::vector<std::byte> sending_;
  std::size_t sent_ = 0;
  std::uint32_t turn_ = 0;  // the process that was served last
  bool blocked_ = false;    // the stream takes nothing now
  GuestEnd end_ = GuestEnd::out_of_resources;
};

}  // namespace cordon::guest
