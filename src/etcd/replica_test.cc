// SPDX-License-Identifier: Apache-2.0
#include "etcd/replica.h"

#include <random>

#include <gtest/gtest.h>

namespace cordon::etcd {
namespace {

KeyValue kv(std::string key, std::string value, Revision revision) {
  return {.key = std::move(key), .value = std::move(value), .mod_revision = revision};
}
Event put(std::string key, std::string value, Revision revision) {
  return {Event::Kind::put, kv(std::move(key), std::move(value), revision)};
}
Event removed(std::string key, Revision revision) {
  return {Event::Kind::removed, kv(std::move(key), "", revision)};
}

TEST(Replica, TellsOnlyWhatDiffers) {
  Replica replica;
  EXPECT_EQ(replica.reset({kv("a", "1", 1), kv("b", "1", 2), kv("c", "1", 3)}, 5).size(), 3U);
  const auto changes = replica.reset({kv("a", "1", 1), kv("b", "2", 7), kv("d", "1", 8)}, 9);
  EXPECT_EQ(changes, (std::vector{put("b", "2", 7), put("d", "1", 8), removed("c", 9)}));
}

TEST(Replica, LeavesOutWhatItKnows) {
  Replica replica;
  replica.reset({kv("a", "2", 5)}, 5);
  EXPECT_TRUE(replica.apply({put("a", "1", 4), put("a", "2", 5)}).empty());
  EXPECT_EQ(replica.values().at("a").value, "2");
  EXPECT_EQ(replica.apply({put("a", "3", 6), removed("a", 6)}).size(), 2U)
      << "two changes of one revision";
  EXPECT_TRUE(replica.values().empty());
}

TEST(Replica, AnotherClusterWithLowerRevisionsIsTakenAsItIs) {
  Replica replica;
  replica.reset({kv("a", "old", 900)}, 1000);
  EXPECT_EQ(replica.reset({kv("a", "new", 2)}, 3), (std::vector{put("a", "new", 2)}));
  EXPECT_EQ(replica.apply({put("a", "newer", 4)}).size(), 1U);
  // The same number in both histories.
  EXPECT_EQ(replica.reset({kv("a", "third", 4)}, 4), (std::vector{put("a", "third", 4)}));
}

// A history of random changes, followed by a copy that misses some and reads all anew: whoever
// replays what the copy told has what is there.
TEST(Replica, WhatItTellsLeadsToWhatIsThere) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::minstd_rand random{seed};
    const auto below_ = [&](std::uint32_t end) { return random() % end; };
    std::map<std::string, KeyValue> there;
    std::map<std::string, KeyValue> told;
    const auto replay = [&](const std::vector<Event>& events) {
      for (const Event& event : events) {
        if (event.kind == Event::Kind::put) {
          told.insert_or_assign(event.now.key, event.now);
        } else {
          EXPECT_EQ(told.erase(event.now.key), 1U) << "seed " << seed << ": told twice";
        }
      }
    };
    Replica replica;
    std::vector<Event> pending;
    for (Revision revision = 1; revision < 200; ++revision) {
      const std::string key(1, static_cast<char>('a' + below_(6)));
      if (below_(3) == 0 && there.erase(key) == 1) {
        pending.push_back(removed(key, revision));
      } else {
        there[key] = kv(key, std::to_string(revision), revision);
        pending.push_back(put(key, std::to_string(revision), revision));
      }
      switch (below_(8)) {
        case 0: {  // compacted before it was seen
          std::vector<KeyValue> all;
          for (const auto& [name, value] : there) all.push_back(value);
          replay(replica.reset(all, revision));
          // A late message of the old watch.
          if (below_(2) == 0) replay(replica.apply(pending));
          pending.clear();
          break;
        }
        case 1:
        case 2:
          replay(replica.apply(std::exchange(pending, {})));
          break;
        default:
          break;
      }
    }
    replay(replica.apply(std::exchange(pending, {})));
    EXPECT_EQ(told, there) << "seed " << seed;
    EXPECT_EQ(replica.values(), there) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cordon::etcd
