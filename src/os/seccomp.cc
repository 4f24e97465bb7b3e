// SPDX-License-Identifier: Apache-2.0
// seccomp(2) and the ioctls of its listener.
#include "os/seccomp.h"

#include <cerrno>
#include <linux/seccomp.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/kernel_abi.h"

namespace cordon::os {
namespace {

unsigned long to_bits(const SeccompFlags& flags) {
  unsigned long bits = 0;
  if (flags.all_threads) bits |= SECCOMP_FILTER_FLAG_TSYNC;
  if (flags.log) bits |= SECCOMP_FILTER_FLAG_LOG;
  if (flags.wait_killable) bits |= SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  return bits;
}

Result<int> load(std::span<const sock_filter> program, unsigned long flags) {
  const std::string length = std::to_string(program.size()) + " instructions";
  if (program.empty() || program.size() > BPF_MAXINSNS) {
    return Error{Errc::invalid, length + ": seccomp takes 1 to 4096"};
  }
  const sock_fprog raw{.len = static_cast<unsigned short>(program.size()),
                       // The kernel only reads it.
                       .filter = const_cast<sock_filter*>(program.data())};
  const long result = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &raw);
  if (result < 0) return Error::from_errno("seccomp").with(length);
  // With TSYNC, and without TSYNC_ESRCH, the kernel names a thread that could not be bound as a
  // positive result: nobody is bound then.
  if (result > 0 && (flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) == 0) {
    return Error{Errc::denied, "seccomp: thread " + std::to_string(result) + " cannot be bound"};
  }
  return static_cast<int>(result);
}

// The kernel copies structs of its own size; larger ones than our headers' would overrun.
Status require_known_sizes() {
  seccomp_notif_sizes sizes{};
  if (::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0U, &sizes) != 0) {
    return Error::from_errno("seccomp").with("SECCOMP_GET_NOTIF_SIZES");
  }
  if (sizes.seccomp_notif > sizeof(seccomp_notif) ||
      sizes.seccomp_notif_resp > sizeof(seccomp_notif_resp)) {
    return Error{Errc::unavailable, "seccomp notifications are larger than this build knows"};
  }
  return {};
}

Status listener_ioctl(const Fd& listener, unsigned long request, void* argument,
                      std::string_view name) {
  int failed = 0;
  do {
    failed = ::ioctl(listener.get(), request, argument);
  } while (failed < 0 && errno == EINTR);
  if (failed < 0) return Error::from_errno("ioctl").with(name);
  return {};
}

Status respond(const Fd& listener, seccomp_notif_resp answer) {
  return listener_ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer, "seccomp notification send");
}

}  // namespace

Status seccomp_load(std::span<const sock_filter> program, const SeccompFlags& flags) {
  TRY_DO(load(program, to_bits(flags)));
  return {};
}

Result<Fd> seccomp_load_with_listener(std::span<const sock_filter> program,
                                      const SeccompFlags& flags) {
  TRY_DO(require_known_sizes());
  unsigned long bits = to_bits(flags) | SECCOMP_FILTER_FLAG_NEW_LISTENER;
  // A positive result would otherwise mean both a listener and a thread that could not be bound.
  if (flags.all_threads) bits |= SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
  TRY(const int listener, load(program, bits));
  return Fd{listener};
}

Result<SeccompNotification> seccomp_receive(const Fd& listener) {
  seccomp_notif raw{};  // the kernel refuses a buffer that is not zero
  TRY_DO(listener_ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &raw, "seccomp notification receive"));
  SeccompNotification notification{.id = raw.id,
                                   .pid = static_cast<pid_t>(raw.pid),
                                   .number = raw.data.nr,
                                   .arch = raw.data.arch,
                                   .arguments = {}};
  for (std::size_t i = 0; i < notification.arguments.size(); ++i) {
    notification.arguments[i] = raw.data.args[i];
  }
  return notification;
}

bool seccomp_id_valid(const Fd& listener, std::uint64_t id) {
  return ::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

Status seccomp_respond_error(const Fd& listener, std::uint64_t id, int error_number) {
  return respond(listener, {.id = id, .val = 0, .error = -error_number, .flags = 0});
}

Status seccomp_respond_value(const Fd& listener, std::uint64_t id, std::int64_t value) {
  return respond(listener, {.id = id, .val = value, .error = 0, .flags = 0});
}

Status seccomp_respond_continue(const Fd& listener, std::uint64_t id) {
  return respond(listener,
                 {.id = id, .val = 0, .error = 0, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE});
}

Status seccomp_respond_fd(const Fd& listener, std::uint64_t id, const Fd& fd, bool cloexec) {
  seccomp_notif_addfd add{.id = id,
                          .flags = SECCOMP_ADDFD_FLAG_SEND,
                          .srcfd = static_cast<std::uint32_t>(fd.get()),
                          .newfd = 0,
                          .newfd_flags = cloexec ? static_cast<std::uint32_t>(O_CLOEXEC) : 0};
  return listener_ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add, "seccomp notification addfd");
}

Status seccomp_set_sync_wake_up(const Fd& listener) {
  // The flags are the argument itself, not a pointer to them.
  if (::ioctl(listener.get(), abi::kSeccompNotifSetFlags, abi::kSeccompNotifFdSyncWakeUp) != 0) {
    return Error::from_errno("ioctl").with("seccomp notification flags");
  }
  return {};
}

}  // namespace cordon::os
