// SPDX-License-Identifier: Apache-2.0
// Loops around read and write that survive signals and short counts.
#include "os/file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace cordon::os {
namespace {

template <class Call>
ssize_t retry_on_signal(Call call) {
  ssize_t result = 0;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

}  // namespace

Result<Fd> openat(const Fd& dir, const char* path, int flags, mode_t mode) {
  const auto fd = retry_on_signal(
      [&] { return ::openat(dir.get(), path, flags | O_CLOEXEC | O_NOCTTY, mode); });
  if (fd < 0) return Error::from_errno("openat").with(path);
  return Fd{static_cast<int>(fd)};
}

Result<std::string> read_all(const Fd& fd, std::size_t most) {
  constexpr std::size_t kChunk = 16384;
  std::string text;
  while (true) {
    const std::size_t held = text.size();
    // One byte past the bound tells "exactly full" from "too long".
    text.resize(held + std::min(kChunk, most - held) + 1);
    const ssize_t got =
        retry_on_signal([&] { return ::read(fd.get(), text.data() + held, text.size() - held); });
    if (got < 0) return Error::from_errno("read");
    text.resize(held + static_cast<std::size_t>(got));
    if (got == 0) return text;
    if (text.size() > most) {
      return Error{Errc::exhausted, "read: more than " + std::to_string(most) + " bytes"};
    }
  }
}

Status write_all(const Fd& fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put =
        retry_on_signal([&] { return ::write(fd.get(), bytes.data(), bytes.size()); });
    if (put < 0) return Error::from_errno("write");
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Result<std::string> read_file(const Fd& dir, const char* path, std::size_t most) {
  TRY(const Fd file, openat(dir, path, O_RDONLY));
  auto text = read_all(file, most);
  if (!text) return std::move(text).error().with(path);
  return text;
}

Status write_file(const Fd& dir, const char* path, std::string_view text) {
  TRY(const Fd file, openat(dir, path, O_WRONLY));
  const ssize_t put =
      retry_on_signal([&] { return ::write(file.get(), text.data(), text.size()); });
  if (put < 0) return Error::from_errno("write").with(path);
  if (static_cast<std::size_t>(put) != text.size()) {
    return Error{Errc::internal, std::string{path} + ": write: taken in part"};
  }
  return {};
}

Status create_file(const Fd& dir, const char* path, std::string_view bytes, mode_t mode) {
  TRY(const Fd file, openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode));
  auto done = write_all(file, bytes);
  if (!done) return std::move(done).error().with(path);
  return {};
}

Result<Pipe> pipe2(int flags) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), flags | O_CLOEXEC) != 0) return Error::from_errno("pipe2");
  return Pipe{.read = Fd{ends[0]}, .write = Fd{ends[1]}};
}

}  // namespace cordon::os
