// SPDX-License-Identifier: Apache-2.0
// The loop over real sockets, in a thread of the test.
#include "broker/serve.h"

#include <array>
#include <chrono>
#include <poll.h>
#include <thread>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "broker/confine.h"
#include "broker/sentinel_test.h"
#include "os/file.h"
#include "os/socket.h"

namespace cordon::broker {
namespace {

using namespace std::chrono_literals;

// One end of a link, as its peer holds it.
class Peer {
 public:
  explicit Peer(os::Fd socket) : socket_{std::move(socket)} {}
  const os::Fd& socket() const { return socket_; }
  void close() { socket_ = os::Fd{}; }

  void send(std::span<const std::byte> bytes, std::span<const os::Fd* const> fds = {}) const {
    ASSERT_TRUE(os::send(socket_, bytes, fds));
  }
  // Empty: the other side has closed, or said nothing for two seconds.
  std::vector<std::byte> receive() {
    pollfd ready{.fd = socket_.get(), .events = POLLIN};
    if (::poll(&ready, 1, 2000) != 1) return {};
    std::vector<std::byte> bytes(frame::kLongestBrokerMessage);
    const auto got = os::receive(socket_, bytes);
    bytes.resize(got ? got->bytes : 0);
    heard_.append(as_text(bytes));
    return bytes;
  }
  // All bytes that came.
  const std::string& heard() const { return heard_; }

 private:
  os::Fd socket_;
  std::string heard_;
};

frame::BindGrant bind_with(std::string_view secret = kSentinel) {
  return {.sandbox = "abc",
          .tenant = "acme",
          .grant = "github",
          .host = "api.github.com",
          .methods = {"GET"},
          .header = "Authorization: Bearer {secret}",
          .ttl_seconds = 60,
          .secret = {as_bytes(secret)}};
}

frame::AskSecret ask_with(std::uint64_t number) {
  return {.number = number,
          .sandbox = "abc",
          .grant = "github",
          .host = "api.github.com",
          .port = 443,
          .method = "GET",
          .path = "/r"};
}

class ServeTest : public testing::Test {
 protected:
  ServeTest() : owner_{link(owner_end_)}, egress_{link(egress_end_)} {
    auto server = Server::create(std::move(owner_end_), clock_);
    EXPECT_TRUE(server);
    EXPECT_TRUE(server->add_egress(std::move(egress_end_), "acme"));
    thread_ = std::thread{[this, s = *std::move(server)]() mutable { ended_ = s.run(); }};
  }
  ~ServeTest() override { static_cast<void>(stop()); }
  Status stop() {
    owner_.close();
    if (thread_.joinable()) thread_.join();
    return ended_;
  }

  static os::Fd link(os::Fd& other) {
    auto pair = os::socketpair(os::SocketType::seqpacket);
    EXPECT_TRUE(pair);
    other = std::move(pair->two);
    return std::move(pair->one);
  }
  frame::BrokerToOwner tell(const frame::OwnerToBroker& message,
                            std::span<const os::Fd* const> fds = {}) {
    const auto bytes = frame::encode_into(memory_, message);
    owner_.send(*bytes, fds);
    return from_owner_link();
  }
  frame::BrokerToOwner from_owner_link() {
    auto heard = frame::decode_broker_to_owner(owner_.receive());
    EXPECT_TRUE(heard);
    return heard ? *heard : frame::BrokerToOwner{};
  }
  // What is said to an egress; its value, if any, as a text of the test's.
  struct Told {
    frame::BrokerToEgress message;
    std::string value;
  };
  static Told hear(Peer& egress) {
    const auto bytes = egress.receive();
    auto heard = frame::decode_broker_to_egress(bytes);
    EXPECT_TRUE(heard);
    if (!heard) return {};
    Told told{*heard, {}};
    if (auto* given = std::get_if<frame::SecretGiven>(&told.message)) {
      told.value = as_text(given->value.bytes);
      given->value = {};
    }
    return told;
  }
  Told ask(Peer& egress, const frame::AskSecret& request) {
    egress.send(frame::encode(frame::EgressToBroker{request}));
    return hear(egress);
  }
  frame::SecretVerdict last_record() {
    const auto record = from_owner_link();
    const auto* used = std::get_if<frame::GrantUsed>(&record);
    EXPECT_NE(used, nullptr);
    return used == nullptr ? frame::SecretVerdict::given : used->verdict;
  }

  SystemClock clock_;
  os::Fd owner_end_;
  os::Fd egress_end_;
  Peer owner_;
  Peer egress_;
  std::array<std::byte, frame::kLongestBrokerMessage> memory_{};
  std::thread thread_;
  Status ended_;
};

TEST_F(ServeTest, BindsGivesRecordsAndRevokes) {
  EXPECT_EQ(tell(bind_with()), frame::BrokerToOwner(frame::GrantBound{"abc", "github"}));
  const Told told = ask(egress_, ask_with(7));
  const auto* given = std::get_if<frame::SecretGiven>(&told.message);
  ASSERT_NE(given, nullptr);
  EXPECT_EQ(given->number, 7U);
  EXPECT_EQ(given->header, "Authorization");
  EXPECT_EQ(told.value, "Bearer tuesday-sentinel-9f2c");
  EXPECT_EQ(told.value.substr(given->secret_offset, given->secret_size), kSentinel);
  EXPECT_EQ(from_owner_link(),
            frame::BrokerToOwner(frame::GrantUsed{"abc", "github", "api.github.com", "GET", "/r",
                                                  frame::SecretVerdict::given}));

  EXPECT_EQ(tell(frame::RevokeGrants{.sandbox = "abc"}),
            frame::BrokerToOwner(frame::GrantsRevoked{1}));
  EXPECT_EQ(hear(egress_).message, frame::BrokerToEgress(frame::GrantRevoked{"abc", "github"}));
  const Told refused = ask(egress_, ask_with(8));
  const auto* no = std::get_if<frame::NoSecret>(&refused.message);
  ASSERT_NE(no, nullptr);
  EXPECT_EQ(no->code, frame::SecretVerdict::cred_revoked);
  EXPECT_EQ(last_record(), frame::SecretVerdict::cred_revoked);
  // C183: the owner hears of uses, and nothing of what was used.
  EXPECT_EQ(owner_.heard().find("sentinel"), std::string::npos);
  EXPECT_TRUE(stop());
}

TEST_F(ServeTest, SaysWhyItRefusesABindingWithoutTheSecret) {
  frame::BindGrant bind = bind_with();
  bind.port = 80;
  const auto answer = tell(bind);
  const auto* refused = std::get_if<frame::GrantRefused>(&answer);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->code, "malformed");
  EXPECT_EQ(refused->grant, "github");
  EXPECT_EQ(owner_.heard().find("sentinel"), std::string::npos);
  // And serves on.
  EXPECT_TRUE(std::holds_alternative<frame::GrantBound>(tell(bind_with())));
}

TEST_F(ServeTest, ServesAnEgressThatComesLaterAndOnlyItsOwnTenant) {
  ASSERT_TRUE(std::holds_alternative<frame::GrantBound>(tell(bind_with())));
  os::Fd end;
  Peer other{link(end)};
  const std::array<const os::Fd*, 1> fds{&end};
  EXPECT_EQ(tell(frame::ServeEgress{"evil"}, fds),
            frame::BrokerToOwner(frame::EgressServed{"evil"}));
  end = os::Fd{};
  const Told refused = ask(other, ask_with(1));
  ASSERT_TRUE(std::holds_alternative<frame::NoSecret>(refused.message));
  EXPECT_EQ(std::get<frame::NoSecret>(refused.message).code, frame::SecretVerdict::cred_unknown);
  EXPECT_EQ(last_record(), frame::SecretVerdict::cred_unknown);
  EXPECT_TRUE(std::holds_alternative<frame::SecretGiven>(ask(egress_, ask_with(2)).message));
  EXPECT_EQ(last_record(), frame::SecretVerdict::given);

  // One that died is followed by another of the same tenant.
  egress_.close();
  os::Fd next_end;
  Peer next{link(next_end)};
  const std::array<const os::Fd*, 1> next_fds{&next_end};
  EXPECT_TRUE(
      std::holds_alternative<frame::EgressServed>(tell(frame::ServeEgress{"acme"}, next_fds)));
  EXPECT_TRUE(std::holds_alternative<frame::SecretGiven>(ask(next, ask_with(3)).message));
}

TEST_F(ServeTest, TakesNoFileForAnEgress) {
  const auto file = os::openat(os::at_cwd(), "/dev/null", O_RDWR);
  ASSERT_TRUE(file);
  const std::array<const os::Fd*, 1> fds{&*file};
  const auto answer = tell(frame::ServeEgress{"acme"}, fds);
  ASSERT_TRUE(std::holds_alternative<frame::GrantRefused>(answer));
  EXPECT_TRUE(std::holds_alternative<frame::GrantRefused>(tell(frame::ServeEgress{"acme"})));
}

TEST_F(ServeTest, EndsTheLinkOfAnEgressThatSpeaksNonsenseAndNoOther) {
  ASSERT_TRUE(std::holds_alternative<frame::GrantBound>(tell(bind_with())));
  os::Fd end;
  Peer other{link(end)};
  const std::array<const os::Fd*, 1> fds{&end};
  ASSERT_TRUE(std::holds_alternative<frame::EgressServed>(tell(frame::ServeEgress{"acme"}, fds)));
  end = os::Fd{};
  egress_.send(as_bytes("nonsense"));
  EXPECT_TRUE(egress_.receive().empty());
  EXPECT_TRUE(std::holds_alternative<frame::SecretGiven>(ask(other, ask_with(1)).message));
}

TEST_F(ServeTest, EndsWithAnOwnerThatSpeaksNonsense) {
  ASSERT_TRUE(std::holds_alternative<frame::GrantBound>(tell(bind_with())));
  owner_.send(as_bytes("nonsense"));
  EXPECT_TRUE(owner_.receive().empty());
  EXPECT_TRUE(egress_.receive().empty());
  const Status ended = stop();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code(), Errc::invalid);
}

// Record before effect: an owner that reads nothing gets no secret used.
TEST_F(ServeTest, GivesNothingThatCannotBeRecorded) {
  ASSERT_TRUE(std::holds_alternative<frame::GrantBound>(tell(bind_with())));
  std::uint64_t number = 1;
  Told told = ask(egress_, ask_with(number));
  ASSERT_TRUE(std::holds_alternative<frame::SecretGiven>(told.message));
  while (number < 5000 && std::holds_alternative<frame::SecretGiven>(told.message)) {
    told = ask(egress_, ask_with(++number));
  }
  ASSERT_TRUE(std::holds_alternative<frame::NoSecret>(told.message));
  EXPECT_EQ(std::get<frame::NoSecret>(told.message).code, frame::SecretVerdict::cred_unrecorded);
  // Once it reads again, each use is there that was given.
  for (std::uint64_t i = 1; i < number; ++i) {
    ASSERT_EQ(last_record(), frame::SecretVerdict::given) << i;
  }
  EXPECT_TRUE(std::holds_alternative<frame::SecretGiven>(ask(egress_, ask_with(9)).message));
}

// An egress that does not read holds nobody up, and is let go.
TEST_F(ServeTest, LetsGoOfAnEgressThatDoesNotTakeItsAnswers) {
  ASSERT_TRUE(std::holds_alternative<frame::GrantBound>(tell(bind_with())));
  ASSERT_TRUE(os::set_nonblocking(egress_.socket(), true));
  const auto bytes = frame::encode(frame::EgressToBroker{ask_with(1)});
  bool closed = false;
  for (int i = 0; i < 20'000 && !closed; ++i) {
    const auto sent = os::send(egress_.socket(), bytes);
    if (sent) continue;
    closed = sent.error().cause().value() == EPIPE;
    if (!closed) std::this_thread::sleep_for(1ms);
    // The owner reads, so that it is not the reason.
    while (!closed) {
      pollfd ready{.fd = owner_.socket().get(), .events = POLLIN};
      if (::poll(&ready, 1, 0) != 1) break;
      static_cast<void>(owner_.receive());
    }
  }
  EXPECT_TRUE(closed);
}

TEST(Confine, LoadsTheFilterLast) {
  const auto steps = confine_steps();
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps.front().name, "dumps");
  EXPECT_EQ(steps.back().name, "filter");
  const auto at = [&](std::string_view name) {
    return std::ranges::find(steps, name, &ConfineStep::name) - steps.begin();
  };
  EXPECT_LT(at("capabilities"), at("no_new_privs"));
  EXPECT_LT(at("no_new_privs"), at("landlock"));
  EXPECT_LT(at("landlock"), at("filter"));
}

}  // namespace
}  // namespace cordon::broker
