// SPDX-License-Identifier: Apache-2.0
// Signals of a terminal whose kernel sends none. gVisor's terminals know who is in the foreground
// and tell it to nobody outside of the session: so one process of the session asks, and signals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::guest {

// Whether the kernel behind this master leaves the signals of its keys and its size to us.
bool needs_herald(const os::Fd& master);

// A process in the session of the caller, which has the terminal `slave` (a path) as its own: pid
// 1's child and no program's, with the caller's rights and none of its descriptors. Each byte of
// `orders` is for whoever is in the foreground then; it ends with the other end of it.
Status make_herald(const os::Fd& orders, const std::string& slave);

// A key that stands for a signal, as the terminal is set at this moment.
struct Key {
  std::size_t at = 0;
  int signal = 0;
};
// The first in `input`; none: the terminal takes all of it as it is.
std::optional<Key> first_key(const os::Fd& master, std::string_view input);

enum class Cause : std::uint8_t {
  host,  // nothing is shown
  key,   // it is echoed, as the terminal is set
};
// To a herald; one that has ended hears nothing. Before: signal < 128.
void order(const os::Fd& orders, int signal, Cause cause) noexcept;

}  // namespace cordon::guest
