// SPDX-License-Identifier: Apache-2.0
// What an engine tells of a program, as the kernel's own events are: the same values, judged and
// recorded by the same hands.
#pragma once

#include "frame/guest_trace.h"
#include "monitor/seen.h"

namespace cordon::monitor {

// A path is told as it was given, and made absolute by its letters: links in it are not followed.
Seen seen_of(const frame::TracedAct& act);

}  // namespace cordon::monitor
