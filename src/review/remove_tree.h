// SPDX-License-Identifier: Apache-2.0
// Removes a tree that somebody hostile may have filled.
#pragma once

#include "base/result.h"
#include "os/fd.h"

namespace cordon::review {

// Removes `name` in `parent` with all below it; what is absent counts as removed. Follows no link,
// enters no mount (an error that names it), holds three descriptors whatever the depth, recurses
// nowhere and opens directories of any mode by changing it first. On an error the rest stays, in
// another shape: directories may have been moved up to the top of the tree.
Status remove_tree(const os::Fd& parent, const char* name);

}  // namespace cordon::review
