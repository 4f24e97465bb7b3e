// SPDX-License-Identifier: Apache-2.0
// Questions find their answers, and whatever goes wrong with the broker lets no request out.
#include "egress/broker_link.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>
#include <unistd.h>

#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "async/block_on.h"
#include "async/scope.h"
#include "base/bytes.h"
#include "os/process.h"
#include "os/socket.h"

namespace cordon::egress {
namespace {

using std::chrono::milliseconds;

SecretRequest a_request(std::string grant = "github") {
  return {.sandbox = "abc",
          .grant = std::move(grant),
          .host = "api.github.com",
          .method = "GET",
          .path = "/r"};
}

// Reads the next question; nothing: the link has ended.
std::optional<frame::AskSecret> question(const os::Fd& socket) {
  std::vector<std::byte> bytes(frame::kLongestBrokerMessage);
  const auto got = os::receive(socket, bytes);
  if (!got || got->bytes == 0) return std::nullopt;
  const auto message = frame::decode_egress_to_broker(std::span{bytes}.first(got->bytes));
  if (!message) return std::nullopt;
  return std::get<frame::AskSecret>(*message);
}

void say(const os::Fd& socket, const frame::BrokerToEgress& message) {
  WipedBytes memory(frame::kLongestBrokerMessage);
  const auto bytes = frame::encode_into(memory, message);
  if (bytes) static_cast<void>(os::send(socket, *bytes));
}

void give(const os::Fd& socket, std::uint64_t number, std::string_view value,
          std::uint32_t offset) {
  say(socket, frame::SecretGiven{.number = number,
                                 .header = "Authorization",
                                 .secret_offset = offset,
                                 .secret_size = static_cast<std::uint32_t>(value.size()) - offset,
                                 .value = {as_bytes(value)}});
}

struct Told {
  std::vector<std::string> revoked;
  int lost = 0;
};

// A link to a broker that `broker` plays, in a thread, until it returns.
struct Fixture {
  explicit Fixture(std::function<void(os::Fd)> broker, milliseconds patience = milliseconds{2000}) {
    auto pair = os::socketpair(os::SocketType::seqpacket);
    EXPECT_TRUE(pair);
    link = std::make_unique<BrokerLink>(
        loop.get_executor(), std::move(pair->one),
        BrokerLink::Callbacks{.revoked =
                                  [this](const std::string& sandbox, const std::string& grant) {
                                    told.revoked.push_back(sandbox + "/" + grant);
                                  },
                              .lost = [this] { ++told.lost; }},
        patience);
    thread = std::thread{std::move(broker), std::move(pair->two)};
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;
  ~Fixture() {
    link.reset();
    thread.join();
  }

  asio::io_context loop{1};
  Told told;
  std::unique_ptr<BrokerLink> link;
  std::thread thread;
};

asio::awaitable<bool> wait_until_lost(async::Scope& scope, BrokerLink& link) {
  scope.spawn(link.run());
  asio::steady_timer timer{co_await asio::this_coro::executor};
  while (!link.is_lost()) {
    timer.expires_after(milliseconds{1});
    co_await timer.async_wait(asio::use_awaitable);
  }
  co_return true;
}

async::Task<InjectedHeader> ask_once(async::Scope& scope, BrokerLink& link,
                                     SecretRequest& request) {
  scope.spawn(link.run());
  auto answer = co_await link.ask(request);
  scope.cancel();
  co_return answer;
}

Result<InjectedHeader> ask(Fixture& with, SecretRequest request = a_request()) {
  return async::block_on(with.loop,
                         async::in_scope(ask_once, std::ref(*with.link), std::move(request)));
}

TEST(BrokerLink, GivesTheHeaderThatItAskedFor) {
  frame::AskSecret heard;
  Fixture with{[&](const os::Fd& socket) {
    heard = question(socket).value_or(frame::AskSecret{});
    give(socket, heard.number, "Bearer tuesday", 7);
  }};
  const auto header = ask(with);
  ASSERT_TRUE(header) << header.error().text();
  EXPECT_EQ(header->name, "Authorization");
  EXPECT_EQ(as_text(header->value), "Bearer tuesday");
  EXPECT_EQ(as_text(header->secret()), "tuesday");
  EXPECT_EQ(heard.sandbox, "abc");
  EXPECT_EQ(heard.grant, "github");
  EXPECT_EQ(heard.host, "api.github.com");
  EXPECT_EQ(heard.port, 443);
  EXPECT_EQ(heard.method, "GET");
  EXPECT_EQ(heard.path, "/r");
}

TEST(BrokerLink, SaysWithWhichCodeItWasRefused) {
  Fixture with{[](const os::Fd& socket) {
    const auto asked = question(socket);
    say(socket,
        frame::NoSecret{asked ? asked->number : 0, frame::SecretVerdict::cred_rate, "slow"});
  }};
  const auto header = ask(with);
  ASSERT_FALSE(header);
  EXPECT_EQ(header.error().code(), Errc::denied);
  EXPECT_EQ(header.error().text(), "cred_rate: slow");
  EXPECT_EQ(code_of_refusal(header.error()), "cred_rate");
  EXPECT_EQ(code_of_refusal(Error{Errc::denied, "cred_ratex: "}), "proxy_unavailable");
  EXPECT_EQ(code_of_refusal(Error{Errc::timeout, "cred_rate: "}), "proxy_unavailable");
}

asio::awaitable<void> note(BrokerLink& link, std::string grant, std::vector<std::string>& answers) {
  const auto answer = co_await link.ask(a_request(grant));
  answers.push_back(grant + (answer ? " " + std::string{as_text(answer->value)} : " refused"));
}

async::Task<void> ask_three(async::Scope& scope, BrokerLink& link,
                            std::vector<std::string>& answers) {
  async::Scope asking{co_await asio::this_coro::executor};
  scope.spawn(link.run());
  for (const char* grant : {"a", "b", "c"}) asking.spawn(note(link, grant, answers));
  co_await asking.join();
  scope.cancel();
  co_return Status{};
}

TEST(BrokerLink, KeepsQuestionsApartWhateverTheOrderOfAnswers) {
  Fixture with{[](const os::Fd& socket) {
    std::vector<frame::AskSecret> asked;
    while (asked.size() < 3) {
      auto next = question(socket);
      if (!next) return;
      asked.push_back(*std::move(next));
    }
    give(socket, 999, "to nobody", 0);
    for (auto at = asked.rbegin(); at != asked.rend(); ++at) {
      give(socket, at->number, "for-" + at->grant, 0);
    }
  }};
  std::vector<std::string> answers;
  ASSERT_TRUE(async::block_on(with.loop,
                              async::in_scope(ask_three, std::ref(*with.link), std::ref(answers))));
  EXPECT_EQ(answers, (std::vector<std::string>{"c for-c", "b for-b", "a for-a"}));
}

TEST(BrokerLink, FailsClosedWhenTheBrokerHasGone) {
  Fixture with{[](const os::Fd& socket) { static_cast<void>(question(socket)); }};
  const auto first = ask(with);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code(), Errc::unavailable);
  EXPECT_EQ(code_of_refusal(first.error()), "proxy_unavailable");
  EXPECT_TRUE(with.link->is_lost());
  EXPECT_EQ(with.told.lost, 1);
  const auto second = ask(with);
  ASSERT_FALSE(second);
  EXPECT_EQ(code_of_refusal(second.error()), "proxy_unavailable");
  EXPECT_EQ(with.told.lost, 1);
}

TEST(BrokerLink, FailsClosedWhenTheBrokerSpeaksNonsense) {
  Fixture with{[](const os::Fd& socket) {
    static_cast<void>(question(socket));
    static_cast<void>(os::send(socket, as_bytes("nonsense")));
    static_cast<void>(question(socket));
  }};
  const auto header = ask(with);
  ASSERT_FALSE(header);
  EXPECT_EQ(code_of_refusal(header.error()), "proxy_unavailable");
  EXPECT_TRUE(with.link->is_lost());
}

TEST(BrokerLink, WaitsSoLongAndNoLonger) {
  const auto start = std::chrono::steady_clock::now();
  Fixture with{[](const os::Fd& socket) {
                 while (question(socket)) {
                 }
               },
               milliseconds{50}};
  const auto header = ask(with);
  ASSERT_FALSE(header);
  EXPECT_EQ(header.error().code(), Errc::timeout);
  EXPECT_EQ(code_of_refusal(header.error()), "proxy_unavailable");
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds{50});
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds{1900});
  EXPECT_EQ(BrokerLink::kPatience, milliseconds{2000});
}

TEST(BrokerLink, TellsOfWhatIsRevokedUnasked) {
  Fixture with{[](const os::Fd& socket) {
    say(socket, frame::GrantRevoked{"abc", "github"});
    say(socket, frame::GrantRevoked{"abc", "npm"});
  }};
  EXPECT_TRUE(async::block_on(with.loop, async::in_scope(wait_until_lost, std::ref(*with.link))));
  EXPECT_EQ(with.told.revoked, (std::vector<std::string>{"abc/github", "abc/npm"}));
  EXPECT_EQ(with.told.lost, 1);
}

// --- what is left in memory. The secret is known here by its rule only, so that no copy is ours.

constexpr std::size_t kSecretSize = 40;
char secret_letter(std::size_t i) { return static_cast<char>('A' + (i * i * 7 + i * 3 + 5) % 26); }

bool is_secret(std::string_view at) {
  if (at.size() < kSecretSize) return false;
  for (std::size_t i = 0; i < kSecretSize; ++i) {
    if (at[i] != secret_letter(i)) return false;
  }
  return true;
}

int copies_in_own_memory() {
  constexpr std::size_t kLargest = std::size_t{64} << 20U;  // larger: a sanitizer's own
  std::ifstream maps{"/proc/self/maps"};
  const os::Fd memory{::open("/proc/self/mem", O_RDONLY | O_CLOEXEC)};
  WipedVector<char> part;
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    char dash = 0;
    std::string rights;
    std::istringstream head{line};
    head >> std::hex >> from >> dash >> to >> rights;
    if (!rights.starts_with("rw") || to - from > kLargest) continue;
    part.resize(to - from);
    const auto own = reinterpret_cast<std::uintptr_t>(part.data());
    const ssize_t got = ::pread(memory.get(), part.data(), part.size(), static_cast<off_t>(from));
    const char* const end = part.data() + std::max<ssize_t>(got, 0);
    for (const char* at = part.data(); at + kSecretSize <= end; ++at) {
      at = static_cast<const char*>(
          std::memchr(at, secret_letter(0), static_cast<std::size_t>(end - at)));
      if (at == nullptr || at + kSecretSize > end) break;
      const std::uintptr_t place = from + static_cast<std::uintptr_t>(at - part.data());
      if (place >= own && place < own + part.size()) continue;
      if (is_secret({at, kSecretSize})) ++count;
    }
    wipe(std::as_writable_bytes(std::span{part}));
  }
  return count;
}

async::Task<void> ask_and_look(async::Scope& scope, BrokerLink& link) {
  scope.spawn(link.run());
  for (int i = 0; i < 20; ++i) {
    const auto header = co_await link.ask(a_request());
    EXPECT_TRUE(header);
    if (!header) break;
    EXPECT_TRUE(is_secret(as_text(header->secret())));
    // The look is no blind one.
    if (i == 0) EXPECT_GE(copies_in_own_memory(), 1) << "for the time of a request";
  }
  EXPECT_EQ(copies_in_own_memory(), 0) << "between requests";
  scope.cancel();
  co_return Status{};
}

TEST(BrokerLink, LeavesNoCopyOfASecretBehind) {
  auto pair = os::socketpair(os::SocketType::seqpacket);
  ASSERT_TRUE(pair);
  // A process of its own plays the broker: its copies are not ours.
  const auto broker = os::Child::start({}, [&] {
    pair->one = os::Fd{};
    std::string value = "Bearer ";
    for (std::size_t i = 0; i < kSecretSize; ++i) value += secret_letter(i);
    while (const auto asked = question(pair->two)) give(pair->two, asked->number, value, 7);
    return 0;
  });
  ASSERT_TRUE(broker);
  pair->two = os::Fd{};
  asio::io_context loop{1};
  BrokerLink link{loop.get_executor(), std::move(pair->one), {}};
  EXPECT_TRUE(async::block_on(loop, async::in_scope(ask_and_look, std::ref(link))));
}

asio::awaitable<void> hear_shared(std::shared_ptr<BrokerLink> link) { co_await link->run(); }

asio::awaitable<void> ask_shared(std::shared_ptr<BrokerLink> link,
                                 std::optional<Result<InjectedHeader>>& answer) {
  answer = co_await link->ask(a_request());
}

asio::awaitable<bool> replace_under_question(async::Scope& scope, std::shared_ptr<BrokerLink>& link,
                                             std::optional<Result<InjectedHeader>>*& answer) {
  scope.spawn(hear_shared(link));
  scope.spawn(ask_shared(link, *answer));
  asio::steady_timer timer{co_await asio::this_coro::executor, milliseconds{20}};
  co_await timer.async_wait(asio::use_awaitable);
  // In one turn: given up, and nobody's but theirs who still use it.
  link->give_up();
  link.reset();
  co_return true;
}

TEST(BrokerLink, ThatIsReplacedAnswersAsIfItHadEnded) {
  asio::io_context loop{1};
  auto pair = *os::socketpair(os::SocketType::seqpacket);
  Told told;
  auto link = std::make_shared<BrokerLink>(
      loop.get_executor(), std::move(pair.one),
      BrokerLink::Callbacks{.revoked = {}, .lost = [&] { ++told.lost; }});
  const std::weak_ptr<BrokerLink> gone = link;
  std::optional<Result<InjectedHeader>> answer;
  async::block_on(loop, async::in_scope(replace_under_question, std::move(link), &answer));
  if (!answer || *answer) FAIL() << "nothing was answered, or a header";
  EXPECT_EQ(answer->error().code(), Errc::unavailable);
  EXPECT_EQ(code_of_refusal(answer->error()), "proxy_unavailable");
  EXPECT_EQ(told.lost, 1) << "what it gave cannot be revoked any more";
  EXPECT_TRUE(gone.expired());
}

}  // namespace
}  // namespace cordon::egress
