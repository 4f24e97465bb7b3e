// SPDX-License-Identifier: Apache-2.0
#include "source/secret_source.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/bytes.h"
#include "frame/broker.h"
#include "os/file.h"
#include "os/file_status.h"
#include "os/spawn.h"

namespace cordon::source {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Room for the newline that is taken off, and for one byte that shows that there are more.
constexpr std::size_t kMostRead = frame::kLongestSecret + 3;

Error too_long() { return Error{Errc::invalid, "longer than 64 KiB"}; }

// False: not ready in time.
Result<bool> wait_for(const os::Fd& fd, steady_clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd ready{.fd = fd.get(), .events = POLLIN, .revents = 0};
    const int count = ::poll(&ready, 1, static_cast<int>(std::min<std::int64_t>(left, 1000)));
    if (count == 1) return true;
    if (count < 0 && errno != EINTR) return Error::from_errno("poll");
  }
}

// All up to the end, into memory of one piece: nothing is left where it grew.
Result<WipedBytes> read_to_end(const os::Fd& fd, steady_clock::time_point until) {
  WipedBytes bytes(kMostRead);
  std::size_t held = 0;
  for (;;) {
    if (held == bytes.size()) return too_long();
    TRY(const bool ready, wait_for(fd, until));
    if (!ready) return Error{Errc::timeout, "not done in time"};
    const ssize_t got = ::read(fd.get(), bytes.data() + held, bytes.size() - held);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno("read");
    if (got == 0) break;
    held += static_cast<std::size_t>(got);
  }
  bytes.resize(held);
  return bytes;
}

Result<WipedBytes> from_variable(const std::string& name, const Surroundings& surroundings) {
  auto value = surroundings.variable(name);
  if (!value) return Error{Errc::not_found, "the variable is not set"};
  const auto bytes = as_bytes(*value);
  WipedBytes secret{bytes.begin(), bytes.end()};
  wipe(std::as_writable_bytes(std::span{*value}));
  if (secret.size() > kMostRead) return too_long();
  return secret;
}

Result<WipedBytes> from_file(const std::string& named, const Surroundings& surroundings) {
  std::string path = named;
  if (named.starts_with("~/")) {
    const auto home = surroundings.variable("HOME");
    if (!home || home->empty()) return Error{Errc::not_found, "HOME is not set"};
    path = *home + named.substr(1);
  }
  // A relative one would be read from wherever we happen to stand: the workspace.
  if (!path.starts_with('/')) return Error{Errc::invalid, "write the whole path, or ~/PATH"};
  // Not to wait for whoever opens the other end of a pipe.
  TRY(const os::Fd file, os::openat(os::at_cwd(), path.c_str(), O_RDONLY | O_NONBLOCK));
  TRY(const os::FileStatus status, os::statx(file));
  if (status.type != os::FileType::regular) return Error{Errc::invalid, "is no ordinary file"};
  return read_to_end(file, steady_clock::time_point::max());
}

Result<WipedBytes> from_command(const std::string& command, const Surroundings& surroundings,
                                milliseconds limit) {
  const auto until = steady_clock::now() + limit;
  TRY(os::Pipe pipe, os::pipe2());
  // The first shell only puts the descriptors in their places. Both stay in the caller's process
  // group: a command that asks for a passphrase does so on the terminal, and Ctrl-C reaches it.
  constexpr const char* kPlaces = "exec </dev/null >&3 3>&-; exec /bin/sh -c \"$1\"";
  const std::array<const os::Fd*, 1> fds{&pipe.write};
  TRY(os::Child child,
      os::spawn("/bin/sh", {"sh", "-c", kPlaces, "sh", command}, surroundings.environment(), fds));
  pipe.write = os::Fd{};
  TRY(WipedBytes secret, read_to_end(pipe.read, until));
  TRY(const bool ended, wait_for(child.pidfd(), until));
  if (!ended) return Error{Errc::timeout, "not done in time"};
  TRY(const os::ExitStatus status, std::move(child).wait());
  if (status.kind != os::ExitStatus::Kind::exited || status.value != 0) {
    return Error{Errc::unavailable,
                 fmt::format("the command ended with {} {}",
                             status.kind == os::ExitStatus::Kind::exited ? "status" : "signal",
                             status.value)};
  }
  return secret;
}

Result<WipedBytes> read_source(policy::SecretSource source, const std::string& from,
                               const Surroundings& surroundings, milliseconds limit) {
  switch (source) {
    case policy::SecretSource::env:
      return from_variable(from, surroundings);
    case policy::SecretSource::file:
      return from_file(from, surroundings);
    case policy::SecretSource::cmd:
      return from_command(from, surroundings, limit);
    case policy::SecretSource::secret:
      return Error{Errc::unavailable, "there is no store of secrets here"};
  }
  return Error{Errc::internal, "an unknown source"};
}

Status check_value(WipedBytes& secret) {
  if (!secret.empty() && secret.back() == std::byte{'\n'}) {
    secret.pop_back();
    if (!secret.empty() && secret.back() == std::byte{'\r'}) secret.pop_back();
  }
  if (secret.empty()) return Error{Errc::invalid, "it is empty"};
  if (secret.size() > frame::kLongestSecret) return too_long();
  const bool fits = std::ranges::all_of(secret, [](std::byte byte) {
    const auto c = std::to_integer<unsigned>(byte);
    return c == '\t' || (c >= 0x20 && c != 0x7F);
  });
  if (!fits) return Error{Errc::invalid, "it has line ends or other characters that no header has"};
  return {};
}

// "env:GITHUB_TOKEN", "file:/etc/token", "cmd:".
std::string shown(policy::SecretSource source, const std::string& from) {
  const bool named = source != policy::SecretSource::cmd;
  return fmt::format("{}:{}", to_string(source), named ? from : std::string{});
}

}  // namespace

Result<WipedBytes> read_secret(policy::SecretSource source, const std::string& from,
                               const Surroundings& surroundings, milliseconds command_limit) {
  auto secret = read_source(source, from, surroundings, command_limit);
  if (!secret) return std::move(secret).error().with(shown(source, from));
  if (Status checked = check_value(*secret); !checked) {
    return std::move(checked).error().with(shown(source, from));
  }
  return secret;
}

}  // namespace cordon::source
