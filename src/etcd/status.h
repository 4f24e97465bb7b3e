// SPDX-License-Identifier: Apache-2.0
// How a call to etcd failed, in words of ours.
#pragma once

#include <string_view>

#include "base/result.h"

namespace cordon::etcd {

// `code` is gRPC's number, not 0. By what the caller can do:
//   unavailable, timeout   ask another member, or later. Of a write: it may have been done, or be
//                          done yet.
//   any other              the answer; of a write: it was not done.
Error error_of(int code, std::string_view text);

// True for the first line of these.
inline bool is_passing(Errc code) { return code == Errc::unavailable || code == Errc::timeout; }

}  // namespace cordon::etcd
