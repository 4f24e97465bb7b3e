// SPDX-License-Identifier: Apache-2.0
// What a sandbox's root has become, on its way out of it and into the store of images.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "async/task.h"
#include "frame/keeper.h"
#include "node/image_keeper.h"
#include "node/resident.h"
#include "sandbox/sandbox.h"

namespace cordon::node {

// Writes the root as an archive to its standard output. Other file systems are the sandbox's own
// and no part of it. 1: a file changed while it was read.
inline constexpr std::string_view kExportRoot =
    "tar --create --file=- --one-file-system --numeric-owner --sort=name --directory=/ . "
    "|| [ $? -eq 1 ]";

// The image of what `exporting` writes. What it writes is the tenant's, and believed as little as
// any archive: cordon-unpack reads it.
async::Task<frame::ImageKept> keep_root(std::shared_ptr<Resident> inside,
                                        sandbox::Command exporting, ImageKeeper& keeper,
                                        frame::KeepImage wanted, std::chrono::milliseconds limit);

}  // namespace cordon::node
