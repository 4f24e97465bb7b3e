// SPDX-License-Identifier: Apache-2.0
// Reads what a process in a node writes, also over the death of the node: what was not had comes
// again from there on.
#pragma once

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>

#include "cli/node_client.h"
#include "cli/output_lines.h"
#include "cli/output_sink.h"

namespace cordon::cli {

struct FollowRules {
  // What reached our streams is acknowledged: the node keeps it no longer, and a process that
  // waited for its reader goes on.
  bool acknowledges = false;
  std::chrono::seconds patience{30};  // with a node that has gone
  // Where to stop, though more may come; nothing: at the process's end.
  std::optional<OutputPlace> until{};
};

struct Followed {
  std::optional<boost::json::value> process{};  // it has ended, and this is how
  std::optional<NodeAnswer> refusal{};          // the node no longer wants to tell
};

class OutputFollower {
 public:
  // All outlive it. `path`: of the process.
  OutputFollower(const Node& node, std::string path, OutputPlace from, FollowRules rules,
                 OutputSink& sink, std::ostream& err);

  // Neither of the two: `until` is reached. `unavailable`: the node stays away, or whoever read our
  // streams has gone: sink_has_gone() tells which.
  async::Task<Followed> follow();

  // While the node is away.
  bool is_lost() const noexcept { return lost_since_.has_value(); }
  bool sink_has_gone() const noexcept { return sink_has_gone_; }
  // How many bytes somebody else acknowledged, so that they never came here.
  std::uint64_t gone() const noexcept { return gone_; }

 private:
  void begin();
  async::Task<bool> take(std::string line);
  async::Task<bool> take_end(const OutputEnd& end, std::string line);
  async::Task<void> acknowledge();
  async::Task<void> outlast();
  bool has_reached_until() const;
  std::string output_path() const;

  const Node& node_;
  std::string path_;
  OutputCursor cursor_;
  FollowRules rules_;
  OutputSink& sink_;
  std::ostream& err_;
  std::uint64_t unacknowledged_ = 0;
  std::uint64_t gone_ = 0;
  std::optional<boost::json::value> process_;
  std::optional<std::chrono::steady_clock::time_point> lost_since_;
  bool has_told_loss_ = false;
  bool sink_has_gone_ = false;
  bool is_nonsense_ = false;  // what the node sends
};

}  // namespace cordon::cli
