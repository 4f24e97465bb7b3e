// SPDX-License-Identifier: Apache-2.0
// Sources of secrets that the floor names: read by a process of their own, known to a broker alone.
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "async/deadline.h"
#include "base/bytes.h"
#include "node/broker_owner.h"
#include "sandbox/process/launcher_link.h"
#include "service.h"

namespace cordon::service {
namespace {

using sandbox::LauncherLink;

constexpr uid_t kReader = 65'531;
constexpr const char* kHost = "api.github.com";
constexpr const char* kVariable = "CORDON_TEST_SOURCE";
constexpr std::string_view kInFile = "sentinel-in-a-file-5a1f";

// Whether the bytes lie in memory of the process.
bool holds(pid_t pid, std::string_view wanted) {
  const std::string base = "/proc/" + std::to_string(pid) + "/";
  std::ifstream maps{base + "maps"};
  std::ifstream memory{base + "mem", std::ios::binary};
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    char dash = 0;
    std::istringstream{line} >> std::hex >> from >> dash >> to;
    if (line.find(" r") == std::string::npos || line.find("[v") != std::string::npos) continue;
    std::string bytes(to - from, '\0');
    memory.clear();
    memory.seekg(static_cast<std::streamoff>(from));
    memory.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (bytes.find(wanted) != std::string::npos) return true;
  }
  return false;
}

class RootServiceSources : public RootService {
 protected:
  void SetUp() override {
    RootService::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    std::ofstream{path("token")} << kInFile << '\n';
    ASSERT_EQ(::chown(path("token").c_str(), kReader, kReader), 0);
    ASSERT_EQ(::chmod(path("token").c_str(), 0400), 0);
    std::string floor = "secret_source_uid = " + std::to_string(kReader) + "\n";
    for (const std::string& source :
         {"file:" + path("token"), "file:" + path("none"), "env:" + std::string{kVariable},
          std::string{"cmd:id -u"}, "cmd:echo [$" + std::string{kVariable} + "]",
          std::string{"cmd:exit 3"}, std::string{"cmd:sleep 3"}}) {
      floor += "secret_source = " + std::string{kHost} + " " + source + "\n";
    }
    write_floor(floor);
    start({"/usr/bin/env", std::string{kVariable} + "=in-a-variable", CORDON_LAUNCHER});
    auto link = wait(LauncherLink::connect(socket()));
    ASSERT_TRUE(link) << link.error().text();
    link_ = std::make_unique<LauncherLink>(*std::move(link));
    ASSERT_TRUE(wait(link_->open_egress("local")));
    auto owned = wait(link_->open_broker("local"));
    ASSERT_TRUE(owned) << owned.error().text();
    owner_ = std::make_unique<node::BrokerOwner>(loop_.get_executor(), *std::move(owned),
                                                 node::BrokerOwner::Callbacks{});
    asio::co_spawn(loop_, owner_->run(), asio::detached);
    auto pair = os::socketpair(os::SocketType::seqpacket);
    ASSERT_TRUE(pair);
    egress_ = std::move(pair->two);
    ASSERT_TRUE(wait(owner_->serve_egress("local", std::move(pair->one))));
  }
  // Until this one has ended: what hears the broker goes on.
  template <class T>
  T wait(asio::awaitable<T> task) {
    std::optional<T> value;
    asio::co_spawn(loop_, async::detail::as_optional(std::move(task)),
                   [&](const std::exception_ptr&, std::optional<T> result) {
                     value = std::move(result);
                     loop_.stop();
                   });
    loop_.restart();
    loop_.run();
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): nothing of ours throws
    return *std::move(value);
  }

  // What a request for `host` gets of the source, or who refused it, and why.
  std::string used(const std::string& source, const std::string& host = kHost,
                   const std::string& bound_to = kHost) {
    const std::uint64_t ticket = next_++;
    const Status begun = wait(link_->read_source({"local", ticket, source, host}));
    if (!begun) return "launcher: " + begun.error().text();
    frame::BindGrant grant{.sandbox = "abcd2345",
                           .tenant = "local",
                           .grant = "github",
                           .host = bound_to,
                           .header = "Authorization: Bearer {secret}",
                           .ticket = ticket};
    const Status bound = wait(owner_->bind(std::move(grant), {}));
    if (!bound) return bound.error().text();
    return asked(bound_to);
  }

  std::string asked(const std::string& host) {
    const frame::EgressToBroker question =
        frame::AskSecret{1, "abcd2345", "github", host, 443, "GET", "/"};
    if (!os::send(egress_, frame::encode(question))) return "nobody asks";
    std::vector<std::byte> memory(frame::kLongestBrokerMessage);
    const auto got = os::receive(egress_, memory);
    if (!got) return "silence";
    const auto told = frame::decode_broker_to_egress(std::span{memory}.first(got->bytes));
    const auto* given = told ? std::get_if<frame::SecretGiven>(&*told) : nullptr;
    return given != nullptr ? std::string{as_text(given->value.bytes)} : "no secret";
  }

  // Those that serve and those that read.
  std::size_t brokers() const {
    std::ifstream file{"/proc/" + std::to_string(pid()) + "/task/" + std::to_string(pid()) +
                       "/children"};
    std::size_t count = 0;
    for (std::string child; file >> child;) {
      std::string name;
      std::ifstream{"/proc/" + child + "/comm"} >> name;
      if (name == "cordon-broker") ++count;
    }
    return count;
  }

  asio::io_context loop_{1};
  std::unique_ptr<LauncherLink> link_;
  std::unique_ptr<node::BrokerOwner> owner_;
  os::Fd egress_;
  std::uint64_t next_ = 1;
};

TEST_F(RootServiceSources, OfEachKindReachTheBroker) {
  EXPECT_EQ(used("file:" + path("token")), "Bearer " + std::string{kInFile});
  EXPECT_EQ(used("env:" + std::string{kVariable}), "Bearer in-a-variable");
  EXPECT_EQ(used("cmd:id -u"), "Bearer " + std::to_string(kReader)) << "as a user of its own";
  EXPECT_EQ(used("cmd:echo [$" + std::string{kVariable} + "]"), "Bearer []")
      << "with none of the launcher's variables";
}

TEST_F(RootServiceSources, AreNotSeenByTheLauncher) {
  ASSERT_EQ(used("file:" + path("token")), "Bearer " + std::string{kInFile});
  EXPECT_FALSE(holds(pid(), kInFile));
  EXPECT_TRUE(holds(pid(), "in-a-variable")) << "the search finds what is there";
}

TEST_F(RootServiceSources, ThatTheFloorDoesNotNameAreNotRead) {
  EXPECT_EQ(used("file:/etc/hostname"),
            "launcher: denied: the floor has no secret_source of this kind for the host " +
                std::string{kHost});
  EXPECT_EQ(used("cmd:id -u; id"),
            "launcher: denied: the floor has no secret_source of this kind for the host " +
                std::string{kHost});
}

TEST_F(RootServiceSources, AreBoundToTheHostOfTheFloor) {
  const std::string source = "file:" + path("token");
  EXPECT_EQ(used(source, "evil.example"),
            "launcher: denied: the floor has no secret_source of this kind for the host "
            "evil.example");
  EXPECT_EQ(used(source, kHost, "evil.example"),
            "broker: denied: the source was read for another host");
}

TEST_F(RootServiceSources, ThatCannotBeReadSayWhy) {
  const std::string none = used("file:" + path("none"));
  EXPECT_TRUE(none.starts_with("broker: unavailable: file:" + path("none"))) << none;
  EXPECT_EQ(used("cmd:exit 3"), "broker: unavailable: cmd:: the command ended with status 3");
}

TEST_F(RootServiceSources, LeaveNoProcessBehindAndAreNotReadWithoutEnd) {
  ASSERT_TRUE(comes_true([&] { return brokers() == 1; }));
  for (std::uint64_t ticket = 100; ticket < 116; ++ticket) {
    ASSERT_TRUE(wait(link_->read_source({"local", ticket, "cmd:sleep 3", kHost})));
  }
  const Status one_more = wait(link_->read_source({"local", 116, "cmd:sleep 3", kHost}));
  ASSERT_FALSE(one_more);
  EXPECT_EQ(one_more.error().text(), "busy: too many sources are being read: ask again");
  EXPECT_TRUE(comes_true([&] { return brokers() == 17; }));
  EXPECT_TRUE(comes_true([&] { return brokers() == 1; }));
}

}  // namespace
}  // namespace cordon::service
