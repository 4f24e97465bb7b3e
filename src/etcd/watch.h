// SPDX-License-Identifier: Apache-2.0
// Every change of some keys, once and in order, whichever members come and go.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "async/task.h"
#include "etcd/client.h"
#include "etcd/pause.h"
#include "etcd/values.h"

namespace cordon::etcd {

// Used from the loop's thread, by one who asks for the next.
class Watch {
 public:
  struct Batch {
    Origin origin;
    std::vector<Event> events;  // not empty; of whole revisions
  };

  // From revision `from` on, of the history of `cluster`. `client` outlives it.
  Watch(Client& client, KeyRange keys, Revision from, std::uint64_t cluster);

  // Waits for as long as nothing changes, over deaths, elections and lost connections; then it goes
  // on behind what it returned last. Ends with
  //   not_found   the history is gone from there on: compacted, or this is another cluster. Read
  //               all of it anew, and watch from there.
  //   denied ...  what is asked for is refused.
  // May be cancelled and called again.
  async::Task<Batch> next();

  Revision next_revision() const noexcept { return next_; }

 private:
  void connect();
  void lose();
  // Nothing: go on reading.
  Result<bool> take(WatchMessage message);

  Client& client_;
  KeyRange keys_;
  Revision next_;
  std::uint64_t cluster_;
  Pause pause_;
  Client::Opened now_;
  bool is_created_ = false;
  bool was_asked_ = false;  // whether it is still there
  Batch batch_;
};

}  // namespace cordon::etcd
