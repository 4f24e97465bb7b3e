// SPDX-License-Identifier: Apache-2.0
// Pid 1's side of the spawner: makes one, asks it one thing at a time, makes another when it has
// become a program or died.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "frame/guest.h"
#include "guest/filter_profile.h"
#include "guest/oom_score.h"
#include "guest/spawner_report.h"
#include "os/epoll.h"
#include "os/fd.h"

namespace cordon::guest {

// The step at which a start fails where all of the sandbox stands still.
inline constexpr const char* kFrozen = "frozen";

// What became of a request.
struct StartEvent {
  enum class Kind : std::uint8_t { ready, fallen, streams, running, failed };
  Kind kind = Kind::ready;
  std::uint32_t process = 0;
  pid_t pid = 0;     // of `streams`: whoever becomes the program
  std::string step;  // of `fallen` and `failed`
  int error_number = 0;
  std::vector<os::Fd> fds;  // of `streams`
};

// A workload has the spawner's id: it may stop it, kill it, or keep it from being made. None of
// that holds pid 1 up; a start that cannot be done fails.
class Starter {
 public:
  using Clock = std::chrono::steady_clock;

  struct Config {
    FilterLookup find_filter = nullptr;
    std::uint64_t tag = 0;                       // of the spawner's socket in the epoll set
    std::chrono::milliseconds patience{30'000};  // for one answer
    std::chrono::milliseconds idle{2'000};       // without a request: then the spawner ends
    const os::Fd* witness = nullptr;             // where filters' listeners go; nothing: nowhere
    bool ready_memory = false;                   // of one that is made ahead
  };
  Starter(const os::Epoll& epoll, const Config& config) : epoll_{epoll}, config_{config} {}
  Starter(const Starter&) = delete;
  Starter& operator=(const Starter&) = delete;
  ~Starter() = default;

  // Forks a spawner that waits for its fences: before they are known. One that cannot be is made
  // when they are.
  Status make_ahead();
  // The same, and another one that goes on, behind the fences that most plans have: for a plan that
  // has no others but for its limits. Returns when that one stands there, or has failed. Where a
  // plan takes that one the first is the next program's; else it ends. `fences` must outlive us.
  Status make_usual(const frame::Fences& fences);
  // With these fences all spawners are made from now on; the one that waits for them goes on as far
  // as it can without the plan's tree. `body`: of their frame. `fences` must outlive us.
  void prepare(const frame::Fences& fences, std::span<const std::byte> body);
  // The tree stands: the one that waits goes on, or one is made; `ready` or `fallen` follows.
  Status begin();

  struct Wanted {
    std::uint32_t process = 0;
    bool as_root = false;
  };
  // `body`: of the frame. False: too much waits already.
  bool ask_start(const Wanted& wanted, std::vector<std::byte> body);
  bool ask_aside(std::vector<std::byte> body, os::Fd answer);

  // Sends what can be sent, makes a spawner where one is needed, gives up what takes too long.
  std::vector<StartEvent> advance();
  // The socket is readable.
  std::vector<StartEvent> hear();
  // The spawner was reaped.
  std::vector<StartEvent> bury();

  // No program begins from here on: what waits for a start fails, and so does the spawner that has
  // one under way. What has begun is the program that it is, or is about to be.
  std::vector<StartEvent> drop_starts();

  // Somebody has come who may ask. Until then the spawner waits however long it takes: a sandbox
  // that was furnished ahead is worth nothing without it.
  void await_requests();

  // It has ended: of one that waits nobody asks what became of it.
  void forget(pid_t pid) noexcept {
    if (next_.pid == pid) next_ = {};
  }

  // 0: there is none.
  pid_t pid() const noexcept { return pid_; }
  // How many processes are spawners.
  int count() const noexcept { return (pid_ > 0 ? 1 : 0) + (next_.pid > 0 ? 1 : 0); }
  // When advance must be called at the latest.
  std::optional<Clock::time_point> deadline() const noexcept { return deadline_; }
  // The next death is our own doing.
  void forgive() noexcept { deaths_ = 0; }

 private:
  struct Item {
    Ask ask = Ask::start;
    std::uint32_t process = 0;
    bool as_root = false;
    std::vector<std::byte> body;
    os::Fd answer;
  };
  // Of one that nobody asks for anything yet. It ends with its link.
  struct Waiting {
    pid_t pid = 0;
    os::Fd link;
    bool is_wanted = true;  // else it stands behind fences of no program here
  };
  Status make(const frame::Fences* fences);
  Status fork(const frame::Fences* fences);
  Status send_usual(const frame::Fences& fences);
  // It and the one that is next change places.
  Status exchange();
  // The one that is next goes down behind these.
  bool take_next(const frame::Fences& fences);
  void kill_spawner();
  // Behind the fences, as whoever is asked for next.
  Status make_next();
  // The spawner that is there cannot become what is asked for next: it goes, and another comes.
  bool is_another() const noexcept;
  bool enqueue(Item item);
  Status send(Ask ask, std::span<const std::byte> body, const os::Fd& answer);
  StartEvent finish_start(StartEvent event);
  // The spawner has become the program.
  StartEvent become();
  void drop_link();
  // It is no more, and has not become the program.
  void lose(std::vector<StartEvent>& events);
  // A spawner with nothing to do costs half of an idle sandbox's own memory. The next request makes
  // another, which descends anew.
  void retire();
  bool is_idle() const noexcept { return ready_ && waiting_.empty(); }
  void await_idle();
  void take(const SpawnerReport& report, std::vector<os::Fd> fds, std::vector<StartEvent>& events);
  std::vector<StartEvent> heed_deadline();
  void give_up(std::vector<StartEvent>& events);
  // Not for ever for who kills them.
  bool may_make();
  void ensure_spawner(std::vector<StartEvent>& events);

  const os::Epoll& epoll_;
  Config config_;
  const frame::Fences* fences_ = nullptr;
  std::optional<OomScore> oom_score_;  // ours, where the workload has our id
  std::vector<Item> waiting_;          // the first may be under way
  bool started_ = false;               // the first is a start, and the spawner has it
  bool begun_ = false;                 // and has read it
  int starts_ = 0;                     // programs that spawners have become; no more than matter
  std::optional<frame::Fences> root_fences_;  // where somebody has asked for it
  bool is_root_ = false;                      // the spawner that is there
  const frame::Fences* usual_ = nullptr;      // behind which it is, until its plan has come
  Waiting next_;                              // beside it, waits for its turn
  pid_t pid_ = 0;
  os::Fd link_;
  bool ready_ = false;
  bool is_awaited_ = false;         // somebody may ask
  std::vector<os::Fd> ours_;        // of the next program's pipes
  bool retired_ = false;            // it was told to end, and has not been reaped
  std::optional<StartEvent> fall_;  // of the spawner that is about to end
  std::optional<Clock::time_point> deadline_;
  int deaths_ = 0;  // in quick succession
  Clock::time_point last_death_;
};

}  // namespace cordon::guest
