// SPDX-License-Identifier: Apache-2.0
// Standard input, output and error: shared with whoever started us, so nothing here changes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

bool is_standard_terminal(int number) noexcept;

// False for files, which are always ready and which epoll refuses.
bool can_wait_for(int number) noexcept;

// A copy of the descriptor, CLOEXEC.
Result<Fd> open_standard(int number);

// Puts a socket whose other end is closed in place of all three: what is written there is lost,
// what is read ends, and their numbers fall to no other descriptor.
Status shut_standard_streams();

enum class Ready : std::uint8_t { read, write };
// A descriptor of its own that polls readable when the stream is ready: an event loop may do to it
// what it must not do to the stream, make it non-blocking.
Result<Fd> readiness_of(int number, Ready what);

// One read or write of at most so much that it does not block once it is ready: what poll promises
// of a pipe.
Result<std::size_t> read_when_ready(int number, std::string& into);
Result<std::size_t> write_when_ready(int number, std::string_view bytes);

}  // namespace cordon::os
