// SPDX-License-Identifier: Apache-2.0
// A part of a tree told in one act: its entries, and what is in its files.
#pragma once

#include "frame/guest.h"

namespace cordon::guest {

// As frame::ReadTree says. Follows no link below the top, waits for no FIFO, and reads of a file no
// more than the size it had when it was opened.
frame::FileReply read_tree(const frame::ReadTree& tree);

}  // namespace cordon::guest
