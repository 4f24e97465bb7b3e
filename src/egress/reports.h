// SPDX-License-Identifier: Apache-2.0
// What the node is told of one sandbox: each refusal once, and how often it was met again.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "frame/egress.h"

namespace cordon::egress {

class Reports {
 public:
  // `send` gives false where the node does not listen just now.
  using Send = std::function<bool(const frame::EgressToNode&)>;
  // What is alike in code and in what was tried is one; of more than these, the rest is counted
  // together: whoever is inside chooses how many there are.
  static constexpr std::size_t kMost = 256;
  // Of uses that the node did not listen to yet.
  static constexpr std::size_t kMostWaiting = 1024;
  // Has tell_uses() called a little later.
  using Soon = std::function<void()>;

  // `later`: has flush() called before long.
  Reports(std::string id, Send send, Soon soon = {}, Soon later = {})
      : id_{std::move(id)},
        send_{std::move(send)},
        soon_{std::move(soon)},
        later_{std::move(later)} {}

  void refused(frame::NetRefused refusal);
  // A beginning is told at once: before anything is heard from there. Ends wait for others.
  void used(frame::NetUsed use);
  void tell_uses();
  // Tells what was counted since it was told, and what waits.
  void flush();
  // How much was sent in all; where the node does not listen, the next one tells it too.
  void sent(std::uint64_t bytes) { send_(frame::EgressToNode{frame::NetSent{id_, bytes}}); }

 private:
  struct Counted {
    frame::NetRefused refusal;
    std::uint64_t untold = 0;
  };

  std::string id_;
  Send send_;
  Soon soon_;
  Soon later_;
  std::vector<frame::NetUsed> waiting_;
  std::map<std::pair<std::string, std::string>, Counted> refusals_;  // by code and what was tried
  std::uint64_t lost_ = 0;  // uses that the node could not be told
};

}  // namespace cordon::egress
