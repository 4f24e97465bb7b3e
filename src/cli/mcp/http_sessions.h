// SPDX-License-Identifier: Apache-2.0
// Requests over HTTP and the conversations that they belong to.
#pragma once

#include <algorithm>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "cli/mcp/server.h"
#include "os/random.h"

namespace cordon::cli {

// Of one request; with its call, which may outlive the request.
class HttpOutlet final : public Outlet {
 public:
  void say(std::string text) override {
    if (!last_) said_.push_back(std::move(text));
    news_.tell();
  }
  void answer(std::string text) override {
    last_ = std::move(text);
    news_.tell();
  }
  asio::awaitable<void> wait() {
    while (said_.empty() && !last_) co_await news_.wait(Ticks::max());
  }
  std::optional<std::string> take_said() {
    if (said_.empty()) return std::nullopt;
    std::string text = std::move(said_.front());
    said_.pop_front();
    return text;
  }
  const std::optional<std::string>& last() const noexcept { return last_; }

 private:
  std::deque<std::string> said_;
  std::optional<std::string> last_;
  News news_;
};

// A client that goes before its answer has no use for it: what it asked for ends.
class Abandoning {
 public:
  Abandoning(std::shared_ptr<Conversation> conversation, const HttpOutlet& outlet, json::value id)
      : conversation_{std::move(conversation)}, outlet_{outlet}, id_{std::move(id)} {}
  Abandoning(const Abandoning&) = delete;
  Abandoning& operator=(const Abandoning&) = delete;
  ~Abandoning() {
    if (!outlet_.last()) conversation_->cancel(id_);
  }

 private:
  std::shared_ptr<Conversation> conversation_;
  const HttpOutlet& outlet_;
  json::value id_;
};

// Of the legacy era. The one that was used least lately goes where there are too many.
class Sessions {
 public:
  static constexpr std::size_t kMost = 64;

  Result<std::string> add(std::shared_ptr<Conversation> conversation) {
    TRY(const auto random, os::random_bytes<24>());
    if (all_.size() >= kMost) {
      all_.back().conversation->cancel_all();
      all_.pop_back();
    }
    all_.push_front({.id = to_hex(random), .conversation = std::move(conversation)});
    return all_.front().id;
  }
  std::shared_ptr<Conversation> find(std::string_view id) {
    const auto found = std::ranges::find(all_, id, &Session::id);
    if (found == all_.end()) return nullptr;
    all_.splice(all_.begin(), all_, found);
    return all_.front().conversation;
  }
  bool remove(std::string_view id) {
    const auto found = std::ranges::find(all_, id, &Session::id);
    if (found == all_.end()) return false;
    found->conversation->cancel_all();
    all_.erase(found);
    return true;
  }
  void cancel_all() {
    for (const Session& each : all_) each.conversation->cancel_all();
  }

 private:
  struct Session {
    std::string id;
    std::shared_ptr<Conversation> conversation;
  };
  std::list<Session> all_;
};

}  // namespace cordon::cli
