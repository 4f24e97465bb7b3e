// SPDX-License-Identifier: Apache-2.0
// Answers requests of a stream, one after the other, until it ends.
#pragma once

#include "base/result.h"
#include "files/tree_server.h"
#include "os/fd.h"

namespace cordon::files {

// `root`: the tree, O_PATH. An Error: what came is no kernel's, or the stream is broken.
Status serve(const os::Fd& stream, os::Fd root, SetIds set_ids, std::uint64_t believed = kBelieved);

}  // namespace cordon::files
