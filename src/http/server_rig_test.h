// SPDX-License-Identifier: Apache-2.0
// A server in a thread of its own, and clients that block: as real ones do.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "async/block_on.h"
#include "base/bytes.h"
#include "http/body.h"
#include "http/parse_head.h"
#include "http/server.h"
#include "os/socket.h"

namespace cordon::http {

using namespace std::chrono_literals;

struct Answer {
  ResponseHead head;
  std::string body;
  std::vector<int> interim;
  std::string error;  // not empty: there was none, or not a whole one
};

// Gives up after ten seconds of silence.
class TestClient {
 public:
  explicit TestClient(os::Fd socket) : socket_{std::move(socket)} {
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  }

  // Whether all of it went.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // False: the server has ended it, or is silent.
  bool fill() {
    std::string room(65536, '\0');
    const ssize_t got = ::recv(socket_.get(), room.data(), room.size(), 0);
    if (got <= 0) return false;
    held_.append(room, 0, static_cast<std::size_t>(got));
    return true;
  }

  Answer read(const std::string& method = "GET") {
    Answer answer;
    for (;;) {
      ResponseReader reader;
      for (bool done = false; !done;) {
        if (held_.empty() && !fill()) return broken(answer, "the end");
        const auto fed = reader.feed(held_);
        if (!fed) return broken(answer, fed.error().text());
        held_.erase(0, fed->consumed);
        done = fed->done;
      }
      answer.head = reader.take();
      if (!is_interim(answer.head)) break;
      answer.interim.push_back(answer.head.status);
    }
    const auto framing = framing_of(answer.head, {.method = method, .upgrade = true});
    if (!framing) return broken(answer, framing.error().text());
    if (framing->kind == Framing::Kind::tunnel) return answer;
    BodyReader reader{*framing};
    while (!reader.done()) {
      if (held_.empty() && !fill()) {
        if (!reader.finish()) answer.error = "the body broke off";
        return answer;
      }
      const auto piece = reader.next(held_);
      if (!piece) return broken(answer, piece.error().text());
      answer.body.append(piece->data);
      held_.erase(0, piece->consumed);
    }
    return answer;
  }

  Answer ask(std::string_view request, const std::string& method = "GET") {
    if (!send(request)) return broken({}, "not sent");
    return read(method);
  }

  // Reads and drops until the server ends the connection. False: it does not.
  bool is_ended() {
    while (fill()) held_.clear();
    return errno != EAGAIN;
  }

  std::string& held() { return held_; }
  int fd() const { return socket_.get(); }
  void shut() const { ::shutdown(socket_.get(), SHUT_WR); }

 private:
  static Answer broken(Answer answer, std::string why) {
    answer.error = std::move(why);
    return answer;
  }
  os::Fd socket_;
  std::string held_;
};

inline std::string get(const std::string& path, const std::string& more = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: node\r\n" + more + "\r\n";
}
inline std::string post(const std::string& path, const std::string& body,
                        const std::string& more = "") {
  return "POST " + path +
         " HTTP/1.1\r\nHost: node\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         more + "\r\n" + body;
}

// What handlers of tests have seen.
struct Seen {
  std::atomic<int> waiting = 0;
  std::atomic<int> cancelled = 0;
  std::atomic<int> broken_writes = 0;
};

class ServerRig {
 public:
  struct Setup {
    ServerLimits limits{};
    ServerTimes times{};
    bool tcp = false;
    std::optional<ServerTls> tls{};
    Handler handler{};
  };

  explicit ServerRig(Setup setup) {
    std::string pattern = (std::filesystem::temp_directory_path() / "cordon-http-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    ServerSetup made{.listeners = {},
                     .tls = std::move(setup.tls),
                     .handler = std::move(setup.handler),
                     .limits = setup.limits,
                     .times = setup.times};
    const bool is_tls = made.tls.has_value();
    made.listeners.push_back(
        {.socket = setup.tcp ? listen_tcp() : listen_unix(), .is_tls = is_tls});
    auto created = Server::create(loop_.get_executor(), std::move(made));
    if (!created) ADD_FAILURE() << created.error().text();
    server_ = *std::move(created);
    asio::co_spawn(loop_, server_->run(), [](const std::exception_ptr& bug) {
      if (bug) std::rethrow_exception(bug);
    });
    thread_ = std::thread{[this] { loop_.run(); }};
  }
  ServerRig(const ServerRig&) = delete;
  ServerRig& operator=(const ServerRig&) = delete;
  ~ServerRig() {
    drain(0s).wait();
    work_.reset();
    thread_.join();
    server_.reset();
    if (!is_tcp_) std::filesystem::remove(path());
    std::filesystem::remove(directory_);
  }

  std::string path() const { return directory_ + "/socket"; }

  os::Fd connect_fd() const {
    if (!is_tcp_) {
      auto fd = os::unix_connect(*os::UnixAddress::at_path(path()), os::SocketType::stream);
      return fd ? *std::move(fd) : os::Fd{};
    }
    os::Fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const auto* const raw = reinterpret_cast<const sockaddr*>(&address_);
    EXPECT_EQ(::connect(fd.get(), raw, sizeof address_), 0);
    return fd;
  }
  TestClient connect() const { return TestClient{connect_fd()}; }
  int port() const { return ntohs(address_.sin_port); }

  ServerCounts counts() {
    std::promise<ServerCounts> told;
    asio::post(loop_, [&] { told.set_value(server_->counts()); });
    return told.get_future().get();
  }
  // Waits for the fact itself.
  template <class Fact>
  bool comes(Fact fact) {
    for (int turn = 0; turn < 4000; ++turn) {
      if (fact()) return true;
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }
  void set_tls(ServerTls tls) {
    std::promise<void> done;
    asio::post(loop_, [&] {
      server_->set_tls(std::move(tls));
      done.set_value();
    });
    done.get_future().wait();
  }
  std::future<bool> drain(std::chrono::nanoseconds limit) {
    auto told = std::make_shared<std::promise<bool>>();
    asio::co_spawn(loop_, server_->drain(limit),
                   [told](const std::exception_ptr&, bool whole) { told->set_value(whole); });
    return told->get_future();
  }

 private:
  os::Fd listen_unix() {
    return *os::unix_listen(*os::UnixAddress::at_path(path()), os::SocketType::stream);
  }
  os::Fd listen_tcp() {
    is_tcp_ = true;
    os::Fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const raw = reinterpret_cast<sockaddr*>(&address_);
    socklen_t size = sizeof address_;
    EXPECT_EQ(::bind(fd.get(), raw, size), 0);
    EXPECT_EQ(::listen(fd.get(), SOMAXCONN), 0);
    ::getsockname(fd.get(), raw, &size);
    return fd;
  }

  std::string directory_;
  bool is_tcp_ = false;
  sockaddr_in address_{};
  asio::io_context loop_{1};
  // It is asked also when the server is over.
  asio::executor_work_guard<asio::io_context::executor_type> work_{loop_.get_executor()};
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

}  // namespace cordon::http
