// SPDX-License-Identifier: Apache-2.0
// cordon image ls, inspect, rm: what is in the store, and out of it again.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/find_run.h"
#include "cli/image_json.h"
#include "cli/image_verbs.h"
#include "cli/node_words.h"
#include "image/store.h"
#include "record/quantity.h"

namespace cordon::cli {
namespace {

struct ShowFlags {
  std::string store;
  std::vector<std::string> names;
  bool json = false;
};

Result<image::Store> store_of(const ShowFlags& flags, const Context& context) {
  TRY(const std::string root, images_root(flags.store, context));
  return image::Store::make(root);
}

void list(const ShowFlags& flags, Context& context) {
  const auto store = store_of(flags, context);
  if (!store) return fail(context, escaped(store.error()));
  const auto images = store->list();
  if (!images) return fail(context, escaped(images.error()));
  if (flags.json) {
    context.out << R"({"images":[)";
    for (std::size_t i = 0; i < images->size(); ++i) {
      context.out << (i == 0 ? "" : ",") << image_json((*images)[i]);
    }
    context.out << "]}\n";
    return;
  }
  std::vector<Row> rows{{"NAME", "SIZE", "FILES", "LAYERS", "ROOT", "DIGEST"}};
  for (const image::Image& image : *images) {
    rows.push_back({image.name, to_size_text(image.bytes), std::to_string(image.entries),
                    std::to_string(image.layers.size()),
                    image.form == image::RootForm::erofs ? "erofs" : "directory",
                    image.digest.substr(0, 19)});
  }
  context.out << table_text(rows);
}

void inspect(const ShowFlags& flags, Context& context) {
  const auto store = store_of(flags, context);
  if (!store) return fail(context, escaped(store.error()));
  for (const std::string& name : flags.names) {
    const auto image = store->find(name);
    if (!image) return fail(context, escaped(image.error()));
    context.out << image_json(*image) << '\n';
  }
}

Status remove_all(const ShowFlags& flags, const Context& context) {
  TRY(const image::Store store, store_of(flags, context));
  TRY(const os::Fd lock, store.lock());
  for (const std::string& name : flags.names) TRY_DO(store.remove(name));
  return {};
}

CLI::App* add_verb(CLI::App& group, const char* name, const char* about, ShowFlags& flags,
                   bool has_names) {
  CLI::App* const verb = group.add_subcommand(name, about);
  if (has_names) verb->add_option("NAME", flags.names, "Of ls")->required();
  verb->add_option("--store", flags.store, "The directory of images");
  return verb;
}

}  // namespace

void add_image_ls(CLI::App& group, Context& context) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App* const verb = add_verb(group, "ls", "list the images that are here", *flags, false);
  verb->add_flag("--json", flags->json, "Print one JSON object");
  verb->callback([flags, &context] { list(*flags, context); });
}

void add_image_inspect(CLI::App& group, Context& context) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App* const verb =
      add_verb(group, "inspect", "print all that is known of images, as JSON", *flags, true);
  verb->callback([flags, &context] { inspect(*flags, context); });
}

void add_image_rm(CLI::App& group, Context& context) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App* const verb =
      add_verb(group, "rm", "remove images, and the layers that no other has", *flags, true);
  verb->callback([flags, &context] {
    const Status removed = remove_all(*flags, context);
    if (!removed) return fail(context, escaped(removed.error()));
    for (const std::string& name : flags->names) context.out << name << '\n';
  });
}

}  // namespace cordon::cli
