// SPDX-License-Identifier: Apache-2.0
// Layers, one over the other, as one tree. Files are second names of the layers' own: nothing is
// copied.
#pragma once

#include "base/result.h"
#include "image/tree_writer.h"
#include "os/fd.h"

namespace cordon::image {

// Puts `layer` over what is in `root`: its files and links replace what has their names, its
// directories are joined with those below, `.wh.NAME` takes NAME of the layers below away, and
// `.wh..wh..opq` all that they have in its directory. Before: both are trees of ours on one file
// system that nobody else writes to.
Status put_over(const os::Fd& root, const os::Fd& layer, Owners owners);

// Files of ours are mounted over some of a root's own, which is not written to then: those names
// become plain files, where the root has a directory for them.
Status make_mount_points(const os::Fd& root);

}  // namespace cordon::image
