// SPDX-License-Identifier: Apache-2.0
// Sandboxes to their ends as fast as they can be had, several at a time.
#pragma once

#include <chrono>
#include <map>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <vector>

#include "node/link.h"

namespace cordon::bench {

// Sandboxes side by side: each answer and each exit brings the next request.
class Stream {
 public:
  explicit Stream(BenchNode& node) : node_{node} {}

  double run(std::chrono::milliseconds span, unsigned width) {
    const auto begin = std::chrono::steady_clock::now();
    for (unsigned i = 0; i < width; ++i) ask(begin + span);
    while (asked_ > 0 || !running_.empty()) turn(begin + span);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return ended_ / took.count();
  }

 private:
  void ask(std::chrono::steady_clock::time_point until) {
    if (std::chrono::steady_clock::now() >= until) return;
    node_.ask_launch();
    ++asked_;
  }
  void turn(std::chrono::steady_clock::time_point until) {
    std::vector<pollfd> news{{.fd = node_.socket().get(), .events = POLLIN, .revents = 0}};
    for (auto& [id, sandbox] : running_)
      news.push_back({.fd = sandbox.host.stream().get(), .events = POLLIN, .revents = 0});
    if (::poll(news.data(), news.size(), 10'000) <= 0) throw std::runtime_error{"nothing moves"};
    std::size_t at = 0;
    std::vector<std::string> over;
    for (auto& [id, sandbox] : running_) {
      if (news[++at].revents == 0) continue;
      sandbox.host.hear_once();
      if (sandbox.host.heard[1].over()) over.push_back(id);
    }
    if (news[0].revents != 0) take(until);
    for (const std::string& id : over) {
      BenchNode::check(running_.at(id));
      running_.erase(id);
      node_.ask_destroy(id);
      ++asked_;
    }
  }
  void take(std::chrono::steady_clock::time_point until) {
    auto heard = node_.hear();
    --asked_;
    if (std::holds_alternative<frame::Ended>(heard.first)) {
      ++ended_;
      return ask(until);
    }
    Living sandbox = BenchNode::living(std::move(heard));
    node_.start(sandbox, {"/usr/bin/true"});
    const std::string id = sandbox.id;
    running_.emplace(id, std::move(sandbox));
  }

  BenchNode& node_;
  std::map<std::string, Living> running_;
  int asked_ = 0;
  int ended_ = 0;
};

}  // namespace cordon::bench
