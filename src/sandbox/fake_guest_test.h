// SPDX-License-Identifier: Apache-2.0
// The other end of a link, for tests: says whatever a test wants it to say.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "frame/guest.h"
#include "os/socket.h"
#include "sandbox/guest_link.h"

namespace cordon::sandbox {

class LinkToAFake : public testing::Test {
 protected:
  void open(Origin origin, std::chrono::milliseconds first_word = kFirstWord) {
    auto pair = os::socketpair(os::SocketType::stream);
    ASSERT_TRUE(pair);
    guest_ = std::move(pair->one);
    link_ =
        std::make_shared<GuestLink>(loop_.get_executor(), std::move(pair->two), origin, first_word);
    asio::co_spawn(loop_, serve(link_), asio::detached);
  }
  void TearDown() override {
    if (link_) link_->close();
    run_until([] { return false; }, std::chrono::milliseconds{0});
  }

  void say(const frame::FromGuest& frame) {
    const auto bytes = encode(frame);
    const auto sent = os::send(guest_, bytes);
    ASSERT_TRUE(sent && *sent == bytes.size());
  }
  // All frames that have arrived, after those of before.
  const std::vector<frame::ToGuest>& heard() {
    std::vector<std::byte> buffer(std::size_t{1} << 16U);
    while (true) {
      const auto received = os::receive_now(guest_, buffer);
      if (!received || received->bytes == 0) break;
      cutter_.push(std::span{buffer}.first(received->bytes));
      while (true) {
        const auto next = cutter_.next();
        const auto body = next ? *next : std::nullopt;
        if (!body) break;
        auto frame = frame::decode_to_guest(*body);
        if (frame) heard_.push_back(*std::move(frame));
      }
    }
    return heard_;
  }
  template <class T>
  std::vector<T> heard_of() {
    std::vector<T> found;
    for (const frame::ToGuest& frame : heard()) {
      if (const auto* one = std::get_if<T>(&frame)) found.push_back(*one);
    }
    return found;
  }

  // What became of a call; asked for only when it has_value().
  template <class T>
  struct Outcome {
    std::vector<Result<T>> held;
    bool has_value() const noexcept { return !held.empty(); }
    Result<T>& operator*() { return held.front(); }
    Result<T>* operator->() { return &held.front(); }
  };
  template <class T>
  using Pending = std::shared_ptr<Outcome<T>>;
  template <class T>
  Pending<T> begin(async::Task<T> task) {
    auto pending = std::make_shared<Outcome<T>>();
    asio::co_spawn(loop_, keep(std::move(task), pending), asio::detached);
    return pending;
  }
  template <class T>
  bool comes(const Pending<T>& pending) {
    return run_until([&] { return pending->has_value(); });
  }
  template <class Question>
  bool run_until(Question question,
                 std::chrono::milliseconds limit = std::chrono::milliseconds{5000}) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!question()) {
      loop_.restart();
      loop_.run_one_for(std::chrono::milliseconds{1});
      if (std::chrono::steady_clock::now() > until) {
        // Whatever is ready and was not asked for.
        loop_.restart();
        loop_.poll();
        return question();
      }
    }
    return true;
  }

  asio::io_context loop_{1};
  os::Fd guest_;
  std::shared_ptr<GuestLink> link_;

 private:
  static asio::awaitable<void> serve(std::shared_ptr<GuestLink> link) { co_await link->serve(); }
  template <class T>
  static asio::awaitable<void> keep(async::Task<T> task, Pending<T> pending) {
    pending->held.push_back(co_await std::move(task));
  }

  frame::FrameCutter cutter_;
  std::vector<frame::ToGuest> heard_;
};

}  // namespace cordon::sandbox
