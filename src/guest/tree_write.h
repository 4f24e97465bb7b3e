// SPDX-License-Identifier: Apache-2.0
// Many entries of a tree made in one act, all of them beneath one directory.
#pragma once

#include "frame/guest.h"

namespace cordon::guest {

// As frame::WriteTree says. What is made has no set-id bits and belongs to whoever calls; a name
// that somebody puts a link at meanwhile is refused or replaced, never followed.
frame::FileReply write_tree(const frame::WriteTree& tree);

}  // namespace cordon::guest
