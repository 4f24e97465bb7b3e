// SPDX-License-Identifier: Apache-2.0
#include "etcd/replica.h"

#include <algorithm>
#include <utility>

namespace cordon::etcd {

std::vector<Event> Replica::reset(std::vector<KeyValue> values, Revision revision) {
  std::map<std::string, KeyValue> fresh;
  for (KeyValue& value : values) {
    std::string key = value.key;
    fresh.insert_or_assign(std::move(key), std::move(value));
  }
  std::vector<Event> changes;
  for (const auto& [key, value] : fresh) {
    const auto known = values_.find(key);
    // Whole values: in another cluster the same revision may mean another.
    if (known == values_.end() || known->second != value) {
      changes.push_back({.kind = Event::Kind::put, .now = value});
    }
  }
  for (const auto& [key, value] : values_) {
    if (fresh.contains(key)) continue;
    changes.push_back(
        {.kind = Event::Kind::removed, .now = {.key = key, .mod_revision = revision}});
  }
  values_ = std::move(fresh);
  revision_ = revision;
  return changes;
}

std::vector<Event> Replica::apply(std::vector<Event> events) {
  const Revision before = revision_;
  std::erase_if(events, [&](const Event& event) { return event.now.mod_revision <= before; });
  for (const Event& event : events) {
    revision_ = std::max(revision_, event.now.mod_revision);
    if (event.kind == Event::Kind::put) {
      values_.insert_or_assign(event.now.key, event.now);
    } else {
      values_.erase(event.now.key);
    }
  }
  return events;
}

}  // namespace cordon::etcd
