// SPDX-License-Identifier: Apache-2.0
// Errno to code, once for the whole project.
#include "base/result.h"

#include <cerrno>

namespace cordon {
namespace {

Errc code_of(int err) noexcept {
  switch (err) {
    case EPERM:
    case EACCES:
    case EROFS:
      return Errc::denied;
    case ENOENT:
    case ESRCH:
    case ENXIO:
      return Errc::not_found;
    case EEXIST:
    case EADDRINUSE:
    case ENOTEMPTY:
    case EBUSY:
      return Errc::exists;
    case ENOMEM:
    case ENOSPC:
    case EMFILE:
    case ENFILE:
    case EAGAIN:
    case EDQUOT:
    case EUSERS:
      return Errc::exhausted;
    case ETIMEDOUT:
      return Errc::timeout;
    case ENOSYS:
    case EOPNOTSUPP:
    case ENODEV:
    case EAFNOSUPPORT:
    case EPROTONOSUPPORT:
    case ECONNREFUSED:
    case EPIPE:
    case ECONNRESET:
    case ENETUNREACH:
    case EHOSTUNREACH:
      return Errc::unavailable;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
    case EXDEV:
    case ENOTDIR:
    case EISDIR:
    case E2BIG:
    case ERANGE:
      return Errc::invalid;
    default:
      return Errc::internal;
  }
}

}  // namespace

std::string_view to_string(Errc code) noexcept {
  switch (code) {
    case Errc::invalid:
      return "invalid";
    case Errc::denied:
      return "denied";
    case Errc::not_found:
      return "not_found";
    case Errc::exists:
      return "exists";
    case Errc::exhausted:
      return "exhausted";
    case Errc::timeout:
      return "timeout";
    case Errc::unavailable:
      return "unavailable";
    case Errc::unrecorded:
      return "unrecorded";
    case Errc::internal:
      return "internal";
  }
  return "internal";
}

Error Error::from_errno(std::string_view call, int err) {
  Error error{code_of(err), std::string{call}};
  error.cause_ = std::error_code{err, std::generic_category()};
  error.text_ += ": " + error.cause_.message();
  return error;
}

Error Error::from_errno(std::string_view call) { return from_errno(call, errno); }

}  // namespace cordon
