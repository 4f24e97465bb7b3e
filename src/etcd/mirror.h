// SPDX-License-Identifier: Apache-2.0
// Keeps a copy of all keys below a prefix.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "async/task.h"
#include "etcd/client.h"
#include "etcd/replica.h"

namespace cordon::etcd {

// Used from the loop's thread only.
class Mirror {
 public:
  // Told of each change after it is in the copy: those of one revision together. Also told when
  // all was read anew and nothing had changed: with no events.
  using Changed = std::function<void(const std::vector<Event>& events)>;

  // `client` outlives it.
  Mirror(Client& client, std::string prefix, Changed changed);
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  // Reads all, then watches; where the history that it was at is gone, it reads all anew, and
  // `changed` hears of the difference only. While etcd is away the copy stays as it was. Ends only
  // with an error that does not pass, or cancelled.
  async::Task<void> run();

  const std::map<std::string, KeyValue>& values() const noexcept { return replica_.values(); }
  // All was read at least once.
  bool is_filled() const noexcept { return is_filled_; }

 private:
  struct Listed {
    std::vector<KeyValue> values;
    Origin origin;
  };
  async::Task<Listed> list();
  async::Task<void> follow(Origin from);

  Client& client_;
  KeyRange keys_;
  Changed changed_;
  Replica replica_;
  bool is_filled_ = false;
};

}  // namespace cordon::etcd
