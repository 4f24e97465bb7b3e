// SPDX-License-Identifier: Apache-2.0
// The ledger behind the loop: changes are written by one thread, all that wait in one commit.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "async/task.h"
#include "journal/ledger.h"

namespace cordon::journal {

enum class Durability : std::uint8_t {
  process,  // survives the death of any process: sandboxes do not survive the machine
  power,    // survives a power cut: tokens, revocations, claims
};

class Journal {
 public:
  static constexpr std::size_t kMostWaiting = 16'384;
  static constexpr std::size_t kMostInOne = 512;

  using Change = std::function<Status(Ledger&)>;

  // Takes over what `ledger` holds; read what is needed before.
  explicit Journal(Ledger ledger);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  // After all that was given to it has been written. Before: no task waits on it.
  ~Journal();

  // Returns when the change is recorded, in the order of the calls; or with what `change` gave,
  // which has then left nothing behind. `exhausted`: too many wait. A commit that fails fails all
  // that were in it.
  async::Task<void> write(Durability durability, Change change);

  // Commits so far, for those who count.
  std::uint64_t commits() const;

 private:
  struct Waiting {
    Durability durability;
    Change change;
    std::function<void(Status)> done;  // called from the writer's thread
  };
  void work();
  void commit(std::deque<Waiting> batch);

  Ledger ledger_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Waiting> waiting_;
  std::uint64_t commits_ = 0;
  bool ends_ = false;
  std::thread writer_;
};

}  // namespace cordon::journal
