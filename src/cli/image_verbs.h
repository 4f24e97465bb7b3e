// SPDX-License-Identifier: Apache-2.0
// The verbs of `cordon image`, and where its images are.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/verbs.h"

namespace cordon::cli {

// --store, else $CORDON_IMAGES, else for root /var/lib/cordon-images, else
// $XDG_DATA_HOME/cordon/images or $HOME/.local/share/cordon/images.
Result<std::string> images_root(const std::string& typed, const Context& context);

void add_image_pull(CLI::App& group, Context& context);
void add_image_import(CLI::App& group, Context& context);
void add_image_build(CLI::App& group, Context& context);
void add_image_ls(CLI::App& group, Context& context);
void add_image_inspect(CLI::App& group, Context& context);
void add_image_rm(CLI::App& group, Context& context);

}  // namespace cordon::cli
