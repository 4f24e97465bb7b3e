// SPDX-License-Identifier: Apache-2.0
#include "etcd/status.h"

#include <string>

namespace cordon::etcd {
namespace {

Errc meaning_of(int code, std::string_view text) {
  const auto says = [text](std::string_view words) {
    return text.find(words) != std::string_view::npos;
  };
  switch (code) {
    case 3:  // invalid argument
      // What etcd says to a client without a certificate where it asks for rights.
      if (says("user name is empty")) return Errc::denied;
      // Rights were changed between the request's arrival and its turn: it was not done.
      if (says("revision of auth store is old") || says("revision in header is old")) {
        return Errc::unavailable;
      }
      return Errc::invalid;
    case 4:
      return Errc::timeout;
    case 5:
      return Errc::not_found;
    case 6:
      return Errc::exists;
    case 7:
    case 16:
      return Errc::denied;
    case 8:
      return Errc::exhausted;
    case 9:
      return says("already exists") ? Errc::exists : Errc::invalid;
    case 11:
      return Errc::not_found;  // a revision that is compacted, or does not exist yet
    case 15:
      return Errc::internal;  // a member that found its data corrupt
    // Also 2: "raft proposal dropped" and its like have no number of their own.
    default:
      return Errc::unavailable;
  }
}

}  // namespace

Error error_of(int code, std::string_view text) {
  const std::string_view own = "etcdserver: ";
  if (text.starts_with(own)) text.remove_prefix(own.size());
  return Error{meaning_of(code, text), std::string{"etcd: "}.append(text)};
}

}  // namespace cordon::etcd
