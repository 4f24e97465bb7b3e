// SPDX-License-Identifier: Apache-2.0
#include "guest/input_stream.h"

#include <algorithm>
#include <cerrno>
#include <termios.h>
#include <unistd.h>

#include "frame/guest.h"
#include "guest/herald.h"

namespace cordon::guest {

Status InputStream::open(const os::Epoll& epoll, os::Fd fd, bool terminal) {
  fd_ = std::move(fd);
  terminal_ = terminal;
  return flush(epoll);
}

void InputStream::close(const os::Epoll& epoll) {
  static_cast<void>(watch(epoll, false));
  fd_ = os::Fd{};
  herald_ = os::Fd{};
  closed_ = true;
  taken_ += held_.size();
  held_ = std::string{};
}

Status InputStream::watch(const os::Epoll& epoll, bool on) {
  if (!fd_ || watched_ == on) return {};
  watched_ = on;
  return on ? epoll.add(fd_, EPOLLOUT, tag_) : epoll.remove(fd_);
}

Status InputStream::give(const os::Epoll& epoll, std::uint64_t offset, std::string_view bytes,
                         bool last) {
  const std::uint64_t given = taken_ + held_.size();
  if (offset > given) return Error{Errc::invalid, "input with a gap before it"};
  const auto known =
      static_cast<std::size_t>(std::min<std::uint64_t>(given - offset, bytes.size()));
  bytes.remove_prefix(known);
  if (last_ && !bytes.empty()) return Error{Errc::invalid, "input after its end"};
  if (held_.size() + bytes.size() > frame::kInputWindow) {
    return Error{Errc::invalid, "more input than the window"};
  }
  last_ = last_ || last;
  if (closed_) {
    taken_ += bytes.size();
    return {};
  }
  held_ += bytes;
  return flush(epoll);
}

// As write(2), except that a key is carried away.
ssize_t InputStream::write_some(std::string_view bytes) const {
  if (herald_) {
    const auto key = first_key(fd_, bytes);
    if (key && key->at == 0) {
      order(herald_, key->signal, Cause::key);
      return 1;
    }
    if (key) bytes = bytes.substr(0, key->at);
  }
  return ::write(fd_.get(), bytes.data(), bytes.size());
}

Status InputStream::flush(const os::Epoll& epoll) {
  if (!fd_) return {};
  std::size_t written = 0;
  while (written < held_.size()) {
    const ssize_t count = write_some(std::string_view{held_}.substr(written));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN) {  // the program has closed its input
      close(epoll);
      return {};
    }
    if (count <= 0) break;
    written += static_cast<std::size_t>(count);
  }
  if (written > 0) newest_ = held_[written - 1];
  taken_ += written;
  held_.erase(0, written);
  if (!held_.empty()) return watch(epoll, true);
  held_ = std::string{};
  TRY_DO(watch(epoll, false));
  if (last_) finish(epoll);
  return {};
}

// A pipe ends by closing. A terminal has no end but a character that says so; within a line that
// only pushes the line out, and a second one is the end.
void InputStream::finish(const os::Epoll& epoll) {
  if (terminal_) {
    termios settings{};
    char mark = 4;
    bool lines = true;
    if (::tcgetattr(fd_.get(), &settings) == 0) {
      mark = static_cast<char>(settings.c_cc[VEOF]);
      lines = (settings.c_lflag & ICANON) != 0;
    }
    const std::string marks(lines && newest_ != '\n' ? 2 : 1, mark);
    static_cast<void>(::write(fd_.get(), marks.data(), marks.size()) < 0);
  }
  close(epoll);
}

}  // namespace cordon::guest
