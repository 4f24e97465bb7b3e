// SPDX-License-Identifier: Apache-2.0
// cordon image: roots for sandboxes.
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/image_verbs.h"
#include "cli/state_root.h"

namespace cordon::cli {

Result<std::string> images_root(const std::string& typed, const Context& context) {
  if (!typed.empty()) return typed;
  if (const auto named = context.environment("CORDON_IMAGES"); named && named->starts_with('/')) {
    return *named;
  }
  if (::geteuid() == 0) return std::string{"/var/lib/cordon-images"};
  return data_root(context, "images");
}

void add_image(CLI::App& app, Context& context) {
  CLI::App* const group =
      app.add_subcommand("image", "Images: roots for sandboxes, by `root = \"image:NAME\"`");
  group->require_subcommand(1);
  add_image_pull(*group, context);
  add_image_import(*group, context);
  add_image_build(*group, context);
  add_image_ls(*group, context);
  add_image_inspect(*group, context);
  add_image_rm(*group, context);
}

}  // namespace cordon::cli
