// SPDX-License-Identifier: Apache-2.0
// Real clients, revocation, and what is left of a secret.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "egress/http_rig_test.h"
#include "os/process.h"
#include "os/random.h"

namespace cordon::egress {
namespace {

// A session that its owner can end.
asio::awaitable<bool> cut_after(async::Scope& scope, Rig*& rig, asio::ip::tcp::socket& socket,
                                std::chrono::milliseconds& time) {
  scope.spawn(rig->session(std::move(socket), rig->leaf()));
  co_await pause(time);
  scope.cancel();
  co_return true;
}

TEST(HttpLife, EndsBothSidesAtOnceWhenItIsCancelled) {
  for (const std::size_t arm : {0U, 1U, 2U}) {
    in_rig({.arm = arm}, [](Rig& rig) -> asio::awaitable<void> {
      static bool host_ended = false;
      host_ended = false;
      rig.origin.script = [](http::Stream& stream, Inbox& inbox) -> asio::awaitable<void> {
        static_cast<void>(co_await TestOrigin::read_head(inbox));
        static_cast<void>(co_await stream.write(
            std::string_view{"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegun"}));
        for (;;) {
          inbox.drop(inbox.bytes().size());
          const auto more = co_await inbox.fill();
          if (!more || !*more) break;
        }
        host_ended = true;
      };
      auto theirs = co_await rig.connect_apart();
      const Rig* const kept = &rig;
      static_cast<void>(kept);
      rig.scope->spawn([](Rig* it, asio::ip::tcp::socket socket) -> asio::awaitable<void> {
        co_await async::in_scope(cut_after, it, std::move(socket), std::chrono::milliseconds{150});
      }(&rig, std::move(theirs)));
      EXPECT_TRUE(co_await rig.shake());
      if (rig.arm == 0) {
        EXPECT_TRUE(co_await rig.is_ended());  // idle
        co_return;
      }
      const std::string up =
          "POST / HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 100000\r\n\r\nhalf";
      EXPECT_TRUE(co_await rig.send(rig.arm == 1 ? get("/") : up));
      EXPECT_TRUE(co_await rig.is_ended());
      co_await pause(50ms);
      EXPECT_TRUE(host_ended);
    });
  }
}

TEST(HttpLife, ServesCurlWithTheSandboxsAuthority) {
  in_rig({}, [](Rig& rig) -> asio::awaitable<void> {
    rig.gate.decide = [](const http::RequestHead& head) -> Judged<HttpPermission> {
      if (head.target.path == "/open") return HttpPermission{};
      return std::unexpected{
          HttpRefusal{.status = 403, .code = "path_not_allowed", .text = "not this path"}};
    };
    const std::string bundle =
        ::testing::TempDir() + "/cordon-ca-" + std::to_string(::getpid()) + ".pem";
    std::ofstream{bundle} << *rig.authority().certificate_pem();
    const auto port = std::to_string(rig.port());
    // Its own thread: curl is waited for, and this loop serves it.
    std::string open_said, closed_said, other_said;
    std::thread curl{[&] {
      const auto run = [&](const std::string& arguments) {
        std::string said;
        std::array<char, 512> bytes{};
        FILE* const pipe =
            ::popen(("curl -sS -m 10 --noproxy '*' --connect-to ::127.0.0.1:" + port + " " +
                     arguments + " 2>&1")
                        .c_str(),
                    "re");
        while (pipe != nullptr && std::fgets(bytes.data(), bytes.size(), pipe) != nullptr)
          said += bytes.data();
        if (pipe != nullptr) ::pclose(pipe);
        return said;
      };
      const std::string both = "https://api.example.com/open https://api.example.com/closed";
      open_said = run("--cacert " + bundle + " " + both);
      closed_said = run("https://api.example.com/open");
      other_said = run("--cacert " + bundle + " https://other.example.com/open");
    }};
    for (int i = 0; i < 3; ++i) co_await rig.accept_one();
    while (other_said.empty()) co_await pause(10ms);
    curl.join();
    EXPECT_EQ(std::remove(bundle.c_str()), 0);
    EXPECT_EQ(open_said, "okcordon: not this path\n");
    EXPECT_NE(closed_said.find("certificate"), std::string::npos) << closed_said;  // not trusted
    EXPECT_NE(other_said.find("unrecognized name"), std::string::npos) << other_said;
    EXPECT_EQ(rig.origin.seen.size(), 1U);
  });
}

// The secret, never in the clear: what is searched must not be found because it is searched for.
class HiddenSecret {
 public:
  HiddenSecret() {
    const auto bytes = os::random_bytes<kSize>();
    for (std::size_t i = 0; i < kSize; ++i)
      hidden_[i] = static_cast<char>(('a' + std::to_integer<int>((*bytes)[i]) % 26) ^ kMask);
  }

  std::string plain() const {
    std::string text(kSize, '\0');
    for (std::size_t i = 0; i < kSize; ++i) text[i] = static_cast<char>(hidden_[i] ^ kMask);
    return text;
  }

  // How often it stands in the writable memory of this process.
  std::size_t count() const {
    std::size_t found = 0;
    std::ifstream maps{"/proc/self/maps"};
    std::ifstream memory{"/proc/self/mem", std::ios::binary};
    std::vector<char> piece(std::size_t{1} << 20U);
    for (std::string line; std::getline(maps, line);) {
      std::uint64_t from = 0, to = 0;
      std::array<char, 5> rights{};
      // NOLINTNEXTLINE(cert-err34-c): the kernel's own numbers
      if (std::sscanf(line.c_str(), "%lx-%lx %4s", &from, &to, rights.data()) != 3) continue;
      if (rights[0] != 'r' || rights[1] != 'w' || to - from > (std::uint64_t{1} << 30U)) continue;
      for (auto at = from; at < to; at += piece.size() - kSize) {
        memory.clear();
        memory.seekg(static_cast<std::streamoff>(at));
        const auto size = std::min<std::uint64_t>(piece.size(), to - at);
        memory.read(piece.data(), static_cast<std::streamsize>(size));
        found += count_in(piece.data(), static_cast<std::size_t>(memory.gcount()));
        std::fill(piece.begin(), piece.end(), '\0');
      }
    }
    return found;
  }

 private:
  static constexpr std::size_t kSize = 40;
  static constexpr char kMask = '\x55';

  // Its second half: emptying a text overwrites the first byte, and that is no wiping.
  std::size_t count_in(const char* bytes, std::size_t size) const {
    constexpr std::size_t kHalf = kSize / 2;
    std::size_t found = 0;
    const auto is_here = [&](const char* at) {
      for (std::size_t i = 0; i < kHalf; ++i)
        if (at[i] != static_cast<char>(hidden_[kHalf + i] ^ kMask)) return false;
      return true;
    };
    const char* const end = bytes + size;
    for (const char* at = bytes; at + kHalf <= end; ++at) {
      at = static_cast<const char*>(
          std::memchr(at, hidden_[kHalf] ^ kMask, static_cast<std::size_t>(end - at)));
      if (at == nullptr || at + kHalf > end) break;
      found += is_here(at) ? 1U : 0U;
    }
    return found;
  }

  std::array<char, kSize> hidden_{};
};

TEST(HttpLife, LeavesNothingOfASecretInMemory) {
  // The host is another process: what it reads is in its own memory.
  asio::io_context loop;
  static const HiddenSecret* secret = nullptr;
  const HiddenSecret hidden;
  secret = &hidden;
  Rig rig{loop, {}};
  auto host = os::Child::start({}, [&] {
    loop.notify_fork(asio::io_context::fork_child);
    rig.origin.respond = [](const Seen& seen) {
      const auto got = http::only(seen.head.fields, "authorization");
      return got == secret->plain() ? "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                                    : "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n";
    };
    async::block_on(loop, async::in_scope(
                              [](async::Scope& scope, Rig*& it) -> asio::awaitable<bool> {
                                co_await it->origin.run(scope);
                                co_return true;
                              },
                              &rig));
    return 0;
  });
  ASSERT_TRUE(host) << host.error().text();
  loop.notify_fork(asio::io_context::fork_parent);
  rig.gate.decide = [](const auto&) -> Judged<HttpPermission> {
    return HttpPermission{.inject = true};
  };
  rig.gate.make = [] {
    http::Fields fields(1);
    fields[0].name = "Authorization";
    fields[0].value = secret->plain();
    return fields;
  };
  rig.serves = false;
  async::block_on(loop, async::in_scope(
                            detail::in_scope_of_rig, &rig, +[](Rig& it) -> asio::awaitable<void> {
                              EXPECT_TRUE(co_await it.connect());
                              for (int i = 0; i < 3; ++i) {
                                const auto answer = co_await it.ask(get("/"));
                                EXPECT_EQ(answer->head.status, 200);
                              }
                              EXPECT_EQ(secret->count(), 0U);
                            }));
  EXPECT_EQ(hidden.count(), 0U);
  const std::string left = hidden.plain();  // else it would not be seen at all
  EXPECT_GE(hidden.count(), 1U) << left.size();
}

}  // namespace
}  // namespace cordon::egress
