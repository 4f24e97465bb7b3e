// SPDX-License-Identifier: Apache-2.0
// A copy of some keys, and what changes in it (pure).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "etcd/values.h"

namespace cordon::etcd {

class Replica {
 public:
  // All that is there, as it is at `revision`. Returns what differs from the copy, as events that
  // could have led there: those of keys that are gone bear `revision`.
  std::vector<Event> reset(std::vector<KeyValue> values, Revision revision);

  // What a watch told. Returns what of it is new.
  std::vector<Event> apply(std::vector<Event> events);

  const std::map<std::string, KeyValue>& values() const noexcept { return values_; }

 private:
  std::map<std::string, KeyValue> values_;
  Revision revision_ = 0;  // what is not later is in the copy
};

}  // namespace cordon::etcd
