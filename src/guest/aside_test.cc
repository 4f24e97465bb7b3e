// SPDX-License-Identifier: Apache-2.0
// What a guest does beside its programs: file acts, tunnels, watches.
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest/guest_rig_test.h"
#include "os/test_support.h"

namespace cordon::guest {
namespace {

bool is_among(const std::vector<frame::FromGuest>& frames, const frame::FromGuest& wanted) {
  return std::ranges::find(frames, wanted) != frames.end();
}

// Also where the spawner that is to do them has to be made first.
TEST_F(Guest, TakesAsManyLongWritesAtOnceAsItPromises) {
  begin(setup(), std::chrono::seconds{30}, std::chrono::milliseconds{1000});
  ASSERT_TRUE(host->hear_hello());
  ASSERT_TRUE(host->send(frame::Resume{}));
  const std::string children =
      "/proc/" + std::to_string(child) + "/task/" + std::to_string(child) + "/children";
  const auto has_children = [&] {
    std::ifstream file{children};
    return std::istream_iterator<int>{file} != std::istream_iterator<int>{};
  };
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{5};
  while (has_children() && std::chrono::steady_clock::now() < until) ::usleep(1'000);
  ASSERT_FALSE(has_children()) << "there is no spawner";
  const os::TempDir dir;
  for (std::uint32_t request = 1; request <= frame::kMostFileActs; ++request) {
    ASSERT_TRUE(
        host->send(frame::FileRequest{.request = request,
                                      .act = frame::FileAct::write,
                                      .path = (dir.path() / std::to_string(request)).string(),
                                      .bytes = std::string(frame::kMostFileBytes, 'x')}));
  }
  ASSERT_TRUE(host->hear_until([&] { return host->files.size() == frame::kMostFileActs; }));
  for (const auto& [request, reply] : host->files) EXPECT_EQ(reply.error_number, 0) << request;
}

TEST_F(Guest, ServesTunnelsBesideProgramsThatWriteWithoutEnd) {
  begin();
  ASSERT_TRUE(host->hear_hello());
  const os::Fd listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{.sin_family = AF_INET, .sin_addr = {.s_addr = ::htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listener.get(), name, size), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  ASSERT_EQ(::getsockname(listener.get(), name, &size), 0);
  for (std::uint32_t process = 1; process < 4; ++process) {
    ASSERT_TRUE(host->send(shell(process, "yes & yes >&2")));
  }
  ASSERT_TRUE(host->send(frame::OpenTunnel{.tunnel = 1, .port = ::ntohs(address.sin_port)}));
  const os::Fd peer{::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  ASSERT_TRUE(peer);
  ASSERT_EQ(::send(peer.get(), "word", 4, 0), 4);
  const frame::FromGuest word = frame::TunnelData{1, "word"};
  EXPECT_TRUE(host->hear_until([&] { return is_among(host->aside, word); }));
}

TEST_F(Guest, TellsOfAWatchThatWasKilled) {
  begin();
  ASSERT_TRUE(host->hear_hello());
  const os::TempDir dir;
  ASSERT_TRUE(host->send(frame::StartWatch{.watch = 3, .path = dir.path().string()}));
  const frame::FromGuest begun = frame::WatchBegun{3};
  ASSERT_TRUE(host->hear_until([&] { return is_among(host->aside, begun); }));
  // Of the guest's children all but the spawner, which comes first.
  const std::string children =
      "/proc/" + std::to_string(child) + "/task/" + std::to_string(child) + "/children";
  std::ifstream file{children};
  const std::vector<int> pids{std::istream_iterator<int>{file}, {}};
  ASSERT_EQ(pids.size(), 2U);
  ASSERT_EQ(::kill(pids[1], SIGKILL), 0);
  const frame::FromGuest ended = frame::WatchEnded{.watch = 3, .error_number = EIO};
  EXPECT_TRUE(host->hear_until([&] { return is_among(host->aside, ended); }));
  // And the next is as good as the first.
  ASSERT_TRUE(host->send(frame::StartWatch{.watch = 4, .path = dir.path().string()}));
  std::ofstream{dir.path() / "f"} << "x";
  const frame::FromGuest again = frame::WatchBegun{4};
  EXPECT_TRUE(host->hear_until([&] { return is_among(host->aside, again); }));
}

TEST_F(Guest, EndsOnTunnelFramesThatNoHostSends) {
  for (const frame::ToGuest& nonsense :
       {frame::ToGuest{frame::TunnelData{1, "before it is open"}},
        frame::ToGuest{frame::OpenTunnel{.tunnel = 1, .port = 1}}}) {
    begin();
    ASSERT_TRUE(host->hear_hello());
    ASSERT_TRUE(host->send(frame::OpenTunnel{.tunnel = 1, .port = 9}));
    ASSERT_TRUE(host->send(nonsense));
    EXPECT_EQ(wait(), static_cast<int>(GuestEnd::protocol_error));
  }
}

}  // namespace
}  // namespace cordon::guest
