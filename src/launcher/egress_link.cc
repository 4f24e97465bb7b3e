// SPDX-License-Identifier: Apache-2.0
#include "launcher/egress_link.h"

#include <array>
#include <cerrno>
#include <poll.h>

#include "os/socket.h"

namespace cordon::launcher {
namespace {

// Of this kind and about this sandbox: whoever answers anything else did not understand, or lies.
template <class Kind>
Status expect(const Result<frame::EgressToLauncher>& answer, const std::string& id) {
  if (!answer) return answer.error();
  const auto* const said = std::get_if<Kind>(&*answer);
  if (said != nullptr && said->id == id) return {};
  return Error{Errc::invalid, "cordon-egress answers something else"};
}

}  // namespace

Result<EgressLink> EgressLink::over(os::Fd socket, std::chrono::milliseconds patience,
                                    std::chrono::milliseconds start) {
  TRY_DO(os::set_nonblocking(socket, true));
  return EgressLink{std::move(socket), patience, start};
}

Status EgressLink::wait(short what, Ticks late) const {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(late - std::chrono::steady_clock::now());
    pollfd news{.fd = socket_.get(), .events = what, .revents = 0};
    const int ready = left.count() > 0 ? ::poll(&news, 1, static_cast<int>(left.count())) : 0;
    if (ready > 0) return {};
    if (ready < 0 && errno == EINTR) continue;
    return Error{Errc::timeout, "cordon-egress does not answer"};
  }
}

Status EgressLink::send(const frame::LauncherToEgress& message, std::span<const os::Fd* const> fds,
                        Ticks late) {
  const auto bytes = frame::encode(message);
  for (;;) {
    const auto sent = os::send(socket_, bytes, fds);
    if (sent) return {};
    if (!os::would_wait(sent.error())) return sent.error();
    TRY_DO(wait(POLLOUT, late));
  }
}

Result<frame::EgressToLauncher> EgressLink::hear(Ticks late) {
  std::array<std::byte, 256> buffer{};
  for (;;) {
    TRY_DO(wait(POLLIN, late));
    const auto got = os::receive(socket_, buffer);
    if (!got && os::would_wait(got.error())) continue;
    if (!got) return got.error();
    if (got->bytes == 0) return Error{Errc::unavailable, "cordon-egress has ended"};
    next_ = patience_;
    return frame::decode_egress_to_launcher(std::span{buffer}.first(got->bytes));
  }
}

Status EgressLink::give(const std::string& id, const os::SteeredSockets& sockets) {
  const Ticks late = this->late();
  const std::array<const os::Fd*, 2> fds{&sockets.tcp, &sockets.udp};
  TRY_DO(send(frame::Listen{id}, fds, late));
  return expect<frame::Holding>(hear(late), id);
}

Status EgressLink::take_back(const std::string& id) {
  const Ticks late = this->late();
  TRY_DO(send(frame::Forget{id}, {}, late));
  return expect<frame::Forgotten>(hear(late), id);
}

}  // namespace cordon::launcher
