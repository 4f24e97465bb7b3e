// SPDX-License-Identifier: Apache-2.0
// Who is told of the calls of one sandbox by its filter. Each call waits for an answer, and the
// answer is always that it may go on: this explains and records, and is no fence.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <poll.h>
#include <span>
#include <thread>
#include <vector>

#include "base/result.h"
#include "monitor/intent.h"
#include "os/fd.h"
#include "os/file.h"
#include "recorder/watch_table.h"

namespace cordon::monitor {

// A thread of its own, because a caller waits. When it goes before the sandbox does, the calls that
// would be told fail (ENOSYS).
class Witness {
 public:
  struct Config {
    std::uint64_t per_second = 10'000;  // what is more is counted
    std::function<void()> when_news;    // there is something to take; called from the thread
  };
  // `socket`: at which listeners arrive, one beside each message.
  static Result<std::unique_ptr<Witness>> start(os::Fd socket, Config config);
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;
  ~Witness();

  struct News {
    std::vector<Intent> intents;
    std::shared_ptr<const os::HeldTree> tree;  // of the sandbox; nothing before the first call
    recorder::Untold untold;                   // of all so far
  };
  News take();
  // Waits until nobody is left who could call. After the sandbox's end.
  void join();

 private:
  Witness(os::Fd socket, Config config, os::Pipe stop)
      : socket_{std::move(socket)}, config_{std::move(config)}, stop_{std::move(stop)} {}
  void run();
  // Of each listener what was heard. False: some are gone.
  bool answer_all(std::span<const pollfd> news);
  void welcome();
  // False: nobody is left who could call there.
  bool answer(const os::Fd& listener);
  struct Told {
    Intent intent;
    std::shared_ptr<const os::HeldTree> tree;  // of the sandbox, where it was not known yet
  };
  std::optional<Told> read(const os::SeccompNotification& call);
  void note(Told told);
  bool has_room();
  void name(Intent& intent, pid_t pid);

  os::Fd socket_;
  Config config_;
  os::Pipe stop_;
  std::vector<os::Fd> listeners_;
  struct Known {
    os::ProcessNames names;
    std::chrono::steady_clock::time_point since;
  };
  std::map<pid_t, Known> known_;
  std::chrono::steady_clock::time_point second_;
  std::uint64_t told_ = 0;  // in it
  std::mutex lock_;         // of the news
  News news_;
  std::thread thread_;
};

}  // namespace cordon::monitor
