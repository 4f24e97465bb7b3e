// SPDX-License-Identifier: Apache-2.0
// Standard input, output and error: shared with whoever started us, so nothing here changes them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

bool is_standard_terminal(int number) noexcept;

// False for files, which are always ready and which epoll refuses.
bool can_wait_for(int number) noexcept;

// A copy of the descriptor, CLOEXEC. `duplicate_standard` gives the bare number, for an owner of
// another library; -1 when it is closed.
Result<Fd> open_standard(int number);
int duplicate_standard(int number) noexcept;

// One read or write of at most so much that it does not block once it is ready: what poll promises
// of a pipe.
Result<std::size_t> read_when_ready(int number, std::string& into);
Result<std::size_t> write_when_ready(int number, std::string_view bytes);

}  // namespace cordon::os
