// SPDX-License-Identifier: Apache-2.0
#include "egress/relay.h"

#include <array>
#include <thread>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

namespace cordon::egress {
namespace {

using asio::ip::tcp;
using namespace std::chrono_literals;

// A relay between two connections; the test holds their far ends, which block.
// The bytes of a long connection are copied, or moved through a conduit.
enum class By : std::uint8_t { copy, conduit };

class RelayTest : public ::testing::TestWithParam<By> {
 protected:
  void connect(tcp::socket& far, tcp::socket& near) {
    tcp::acceptor listener{loop_, tcp::endpoint{asio::ip::address_v4::loopback(), 0}};
    far.connect(listener.local_endpoint());
    near = listener.accept();
  }

  void start(const policy::Limits& limits = {}, std::string first = {},
             std::chrono::seconds idle = 900s) {
    connect(client_, near_client_);
    connect(server_, near_server_);
    budget_.emplace(limits, std::chrono::steady_clock::now());
    if (GetParam() == By::conduit) {
      auto made = os::Conduit::create();
      ASSERT_TRUE(made);
      conduit_.emplace(*std::move(made));
    }
    asio::co_spawn(
        loop_,
        relay(near_client_, near_server_, std::move(first),
              {.budget = *budget_, .conduit = conduit_ ? &*conduit_ : nullptr, .idle = idle}),
        asio::bind_cancellation_slot(stop_.slot(),
                                     [this](std::exception_ptr failure, Relayed relayed) {
                                       near_client_.close();  // as its caller does
                                       near_server_.close();
                                       is_over_ = true;
                                       failure_ = std::move(failure);
                                       relayed_ = std::move(relayed);
                                     }));
    runner_ = std::jthread{[this] { loop_.run(); }};
  }

  void join() { runner_.join(); }

  std::optional<Errc> why_cut() const {
    return relayed_.cut ? std::optional{relayed_.cut->code()} : std::nullopt;
  }

  static std::string read(tcp::socket& from, std::size_t size) {
    std::string bytes(size, '\0');
    boost::system::error_code error;
    bytes.resize(asio::read(from, asio::buffer(bytes), error));
    return bytes;
  }
  static boost::system::error_code end_of(tcp::socket& from) {
    boost::system::error_code error;
    std::array<char, 1> byte{};
    asio::read(from, asio::buffer(byte), error);
    return error;
  }

  asio::io_context loop_;
  tcp::socket client_{loop_}, near_client_{loop_}, near_server_{loop_}, server_{loop_};
  std::optional<EgressBudget> budget_;
  std::optional<os::Conduit> conduit_;
  asio::cancellation_signal stop_;
  bool is_over_ = false;
  std::exception_ptr failure_;
  Relayed relayed_;
  std::jthread runner_;
};

TEST_P(RelayTest, PassesBothWaysAndEndsWhenBothHave) {
  start();
  asio::write(client_, asio::buffer(std::string_view{"ask"}));
  client_.shutdown(tcp::socket::shutdown_send);
  EXPECT_EQ(read(server_, 3), "ask");
  EXPECT_EQ(end_of(server_), asio::error::eof);
  asio::write(server_, asio::buffer(std::string_view{"answer"}));
  server_.close();
  EXPECT_EQ(read(client_, 6), "answer");
  EXPECT_EQ(end_of(client_), asio::error::eof);
  join();
  EXPECT_TRUE(is_over_);
  EXPECT_FALSE(relayed_.cut);
  EXPECT_EQ(relayed_.out, 3U);
  EXPECT_EQ(relayed_.in, 6U);
}

TEST_P(RelayTest, SendsFirstWhatWasReadBefore) {
  start({}, "before ");
  asio::write(client_, asio::buffer(std::string_view{"and after"}));
  EXPECT_EQ(read(server_, 16), "before and after");
  client_.close();
  server_.close();
  join();
  EXPECT_EQ(relayed_.out, 16U);
}

TEST_P(RelayTest, KeepsInOrderWhatTheOtherSideIsSlowToTake) {
  start();
  std::string sent(std::size_t{24} << 20U, '\0');
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 2654435761U >> 13U);
  const std::jthread writer{[&] {
    asio::write(client_, asio::buffer(sent));
    client_.shutdown(tcp::socket::shutdown_send);
  }};
  std::this_thread::sleep_for(100ms);
  EXPECT_TRUE(read(server_, sent.size()) == sent);
  EXPECT_EQ(end_of(server_), asio::error::eof);
  server_.close();
  join();
  EXPECT_EQ(relayed_.out, sent.size());
}

TEST_P(RelayTest, ResetsBothSidesWhenTheBudgetIsSpent) {
  policy::Limits limits;
  limits.egress = 10;
  start(limits);
  asio::write(client_, asio::buffer(std::string(8, 'a')));
  EXPECT_EQ(read(server_, 8).size(), 8U);
  asio::write(client_, asio::buffer(std::string(8, 'a')));
  join();
  EXPECT_EQ(why_cut(), Errc::exhausted);
  EXPECT_LE(read(server_, 8).size(), 2U);
  EXPECT_EQ(end_of(client_), asio::error::connection_reset);
}

TEST_P(RelayTest, HoldsBytesBackAsTheBandwidthSays) {
  policy::Limits limits;
  limits.bandwidth = 100'000;
  start(limits);
  const auto begin = std::chrono::steady_clock::now();
  asio::write(client_, asio::buffer(std::string(130'000, 'a')));
  EXPECT_EQ(read(server_, 130'000).size(), 130'000U);
  EXPECT_GT(std::chrono::steady_clock::now() - begin, 250ms);  // beyond a second's worth
  client_.close();
  server_.close();
  join();
}

TEST_P(RelayTest, CutsALongConnectionAtTheByte) {
  policy::Limits limits;
  limits.egress = 3'000'000;
  start(limits);
  const std::jthread writer{[&] {
    boost::system::error_code ignored;
    asio::write(client_, asio::buffer(std::string(4'000'000, 'a')), ignored);
  }};
  EXPECT_LE(read(server_, 4'000'000).size(), 3'000'000U);
  join();
  EXPECT_EQ(why_cut(), Errc::exhausted);
}

TEST_P(RelayTest, HoldsBackTheBytesOfALongConnection) {
  policy::Limits limits;
  limits.bandwidth = 1'000'000;
  start(limits);
  const auto begin = std::chrono::steady_clock::now();
  std::string sent(1'300'000, '\0');
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 2654435761U >> 13U);
  const std::jthread writer{[&] { asio::write(client_, asio::buffer(sent)); }};
  EXPECT_TRUE(read(server_, sent.size()) == sent);
  EXPECT_GT(std::chrono::steady_clock::now() - begin, 250ms);  // beyond a second's worth
  asio::post(loop_, [this] { stop_.emit(asio::cancellation_type::terminal); });
  join();
}

TEST_P(RelayTest, EndsAConnectionThatIsSilent) {
  start({}, {}, 1s);
  join();
  EXPECT_EQ(why_cut(), Errc::timeout);
  EXPECT_EQ(end_of(client_), asio::error::connection_reset);
  EXPECT_EQ(end_of(server_), asio::error::connection_reset);
}

TEST_P(RelayTest, EndsBothSidesAtOnceWhenItIsCancelled) {
  policy::Limits limits;
  limits.bandwidth = 1000;
  start(limits);
  asio::write(client_, asio::buffer(std::string(5000, 'a')));  // one direction waits for a timer
  EXPECT_EQ(read(server_, 1000).size(), 1000U);
  asio::post(loop_, [this] { stop_.emit(asio::cancellation_type::terminal); });
  join();
  EXPECT_TRUE(is_over_);
  EXPECT_EQ(end_of(client_), asio::error::connection_reset);
}

TEST_P(RelayTest, IsEndedByWhoeverClosesItsClient) {
  start();
  asio::post(loop_, [this] { near_client_.close(); });
  join();
  EXPECT_TRUE(is_over_);
  EXPECT_FALSE(relayed_.cut);
  EXPECT_EQ(end_of(server_), asio::error::connection_reset);
}

INSTANTIATE_TEST_SUITE_P(By, RelayTest, ::testing::Values(By::copy, By::conduit),
                         [](const auto& info) {
                           return info.param == By::copy ? "copy" : "conduit";
                         });

}  // namespace
}  // namespace cordon::egress
