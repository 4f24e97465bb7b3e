// SPDX-License-Identifier: Apache-2.0
// Which release of the fleet's policy is for which node, and when the next nodes get it: canaries
// first, then cell by cell, and everybody back to the one before as soon as one cannot take it
// (pure).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/node_id.h"

namespace cordon::fleet {

// In the etcd of all cells. A release is written once and never changed; its text is read by
// gate/release.h.
inline constexpr std::string_view kPolicy = "/cordon/policy/";
inline constexpr std::string_view kRolloutKey = "/cordon/policy/rollout";
inline constexpr std::string_view kReleases = "/cordon/policy/releases/";
std::string release_key(std::uint64_t number);
// Nothing for a key that release_key does not make.
std::optional<std::uint64_t> release_of(std::string_view key);

enum class Stage : std::uint8_t {
  canary,   // the canaries have it
  rolling,  // and some cells
  whole,    // all have it
  stopped,  // all have the one before
};
std::string_view to_string(Stage stage) noexcept;

struct Rollout {
  std::uint64_t release = 0;
  std::uint64_t before = 0;  // what nodes have or go back to; 0: their own settings alone
  Stage stage = Stage::canary;
  std::vector<NodeId> canaries;      // at least one
  std::vector<std::uint16_t> cells;  // that have it, of `rolling`
  std::chrono::seconds soak{30};     // so long a stage runs it without fault before the next one
  std::chrono::sys_seconds since{};  // all of the stage run it from then on; 0: not yet
  bool may_turn_away = false;        // creates that it alone refuses are no fault
  std::string sha256;                // of the text, in hex
  std::string by;                    // who wrote it: the gateway's name for whoever asked
  std::string why;                   // of `stopped`
  friend bool operator==(const Rollout&, const Rollout&) = default;
};

std::string encode(const Rollout& rollout);
Result<Rollout> decode_rollout(std::string_view text);

// What the node is to run; 0: its own settings alone.
std::uint64_t release_for(const Rollout& rollout, NodeId node);

// What a node has said of itself.
struct NodeRelease {
  NodeId node;
  bool is_present = false;        // it has a lease, and is not dead
  std::uint64_t release = 0;      // that it runs
  std::uint64_t refused = 0;      // that it could not take; 0: none
  std::string why{};              // of that
  std::uint64_t turned_away = 0;  // creates that its release alone refused
};

struct Step {
  Rollout next;          // as it was, where nothing changes
  std::string words;     // what it waits for, or what was done
  bool is_over = false;  // whole or stopped
};
// `nodes`: all that are known. `cells`: all that there are, also those of which no node is known.
// Pure: whoever applies it writes `next` only where the rollout is still the one it was given.
Step advance(const Rollout& now, const std::vector<NodeRelease>& nodes,
             const std::vector<std::uint16_t>& cells, std::chrono::sys_seconds time);

// Everybody goes back, whatever the stage.
Rollout rolled_back(Rollout now, std::string_view why);

// The next number's, after what there is. `last` is over, or there was none; then what nodes say
// that they run stays with them: etcd may have lost its data.
Rollout begin_rollout(const std::optional<Rollout>& last, const std::vector<NodeRelease>& nodes,
                      Rollout wanted);

}  // namespace cordon::fleet
