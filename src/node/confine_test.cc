// SPDX-License-Identifier: Apache-2.0
// What a confined node cannot do, each beside the same act before; and what it still can.
#include "node/confine.h"

#include <arpa/inet.h>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/landlock.h"
#include "os/test_support.h"

namespace cordon::node {
namespace {

bool opens(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

bool connects(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool done = ::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  ::close(fd);
  return done;
}

// A listener that is there for as long as the process.
std::uint16_t listening_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (::bind(fd, reinterpret_cast<sockaddr*>(&at), size) != 0 || ::listen(fd, 8) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
    return 0;
  }
  return ntohs(at.sin_port);
}

// One of the calls that the filter alone refuses.
bool finds_a_keyring() {
  return ::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 1) >= 0;
}

struct Acts {
  std::string beside;
  std::string state;
  std::string image;
  std::uint16_t port = 0;

  // A letter for each act that is done.
  std::string done() const {
    std::string all;
    const auto add = [&](char letter, bool is_done) { all += is_done ? letter : '-'; };
    add('r', opens(beside, O_RDONLY));
    add('w', opens(beside, O_WRONLY));
    add('i', opens(image + "/f", O_RDONLY));
    add('I', opens(image + "/f", O_WRONLY));
    add('s', opens(state + "/new", O_WRONLY | O_CREAT));
    add('u', ::unlink((state + "/new").c_str()) == 0);
    add('x', ::access("/bin/true", X_OK) == 0 && runs("/bin/true"));
    add('c', connects(port));
    add('k', finds_a_keyring());
    return all;
  }
  static bool runs(const char* program) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl(program, program, nullptr);
      ::_exit(127);
    }
    int status = 0;
    return ::waitpid(child, &status, 0) == child && status == 0;
  }
};

TEST(ConfineNode, LeavesItsOwnDirectoriesAndNothingElse) {
  const auto abi = os::landlock_abi();
  if (!abi || *abi < 4) GTEST_SKIP() << "this kernel's Landlock holds less";
  const os::TempDir dir;
  for (const char* const name : {"state", "image", "run"}) {
    std::filesystem::create_directory(dir.path() / name);
  }
  for (const char* const name : {"beside", "image/f"}) std::ofstream{dir.path() / name} << "x";
  const Acts acts{.beside = dir.path() / "beside",
                  .state = dir.path() / "state",
                  .image = dir.path() / "image",
                  .port = listening_port()};
  Settings settings;
  settings.state = acts.state;
  settings.unix_socket = dir.path() / "run" / "socket";
  settings.images["own"] = acts.image;
  const std::string said = os::in_child([&]() -> std::string {
    const std::string before = acts.done();
    if (const Status confined = confine(settings); !confined) return confined.error().text();
    return before + " " + acts.done();
  });
  EXPECT_EQ(said, "rwiIsuxck --i-su---");
}

}  // namespace
}  // namespace cordon::node
