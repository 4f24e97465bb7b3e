// SPDX-License-Identifier: Apache-2.0
// cordon image pull, import, build: an image gets into the store.
#include <algorithm>
#include <memory>
#include <ostream>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/find_run.h"
#include "cli/image_json.h"
#include "cli/image_verbs.h"
#include "cli/program_beside.h"
#include "image/acquire.h"
#include "policy/image_name.h"
#include "record/quantity.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

struct MakeFlags {
  std::string store;
  std::string source;
  std::string name;
  std::vector<std::string> packages;
  bool json = false;
};

// How far it is, on a terminal that somebody looks at.
class Progress {
 public:
  explicit Progress(std::ostream& to) : to_{to}, is_shown_{::isatty(STDERR_FILENO) == 1} {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (said_ > 0) to_ << "\r\033[K" << std::flush;
  }
  void hear(std::uint64_t bytes) {
    constexpr std::uint64_t kStep = std::uint64_t{1} << 20U;
    if (!is_shown_ || (bytes > said_ && bytes < said_ + kStep)) return;
    said_ = bytes;
    to_ << "\rcordon: image: layer: " << to_size_text(bytes / kStep * kStep) << "\033[K"
        << std::flush;
  }

 private:
  std::ostream& to_;
  bool is_shown_;
  std::uint64_t said_ = 0;
};

// "python" of "docker://127.0.0.1:5000/team/python:3.12", "x" of "oci:/tmp/x:1".
std::string name_of(std::string source) {
  source = source.substr(0, source.find('@'));
  source = source.substr(source.rfind('/') + 1);
  source = source.substr(0, source.find(':'));
  for (const std::string_view end : {".tar.gz", ".tar.zst", ".tgz", ".tar"}) {
    if (source.ends_with(end)) return source.substr(0, source.size() - end.size());
  }
  return source;
}

using Make = std::function<Result<image::Image>(const image::Store&, const std::string& name,
                                                const image::Unpacker&)>;

Result<image::Image> made(const MakeFlags& flags, const std::string& usual, const Make& make,
                          Context& context) {
  const std::string& name = flags.name.empty() ? usual : flags.name;
  if (!policy::is_image_name(name)) {
    return Error{Errc::invalid, fmt::format("\"{}\" is no name for an image: a-z, 0-9, -, . and _; "
                                            "choose one with --name",
                                            terminal::printable(name))};
  }
  TRY(const std::string root, images_root(flags.store, context));
  TRY(const image::Store store, image::Store::make(root));
  Progress progress{context.err};
  const image::Unpacker unpacker{program_beside("cordon-unpack"),
                                 [&](std::uint64_t bytes) { progress.hear(bytes); }};
  return make(store, name, unpacker);
}

void tell(const Result<image::Image>& image, const MakeFlags& flags, Context& context) {
  if (!image) return fail(context, escaped(image.error()));
  if (flags.json) {
    context.out << image_json(*image) << '\n';
    return;
  }
  context.out << fmt::format("{}  {}, {} files, {}\n", image->name, to_size_text(image->bytes),
                             image->entries, image->digest);
}

void add_flags(CLI::App& verb, MakeFlags& flags) {
  verb.add_option("--name", flags.name, "What it is to be called");
  verb.add_option("--store", flags.store, "The directory of images");
  verb.add_flag("--json", flags.json, "Print one JSON object");
}

// A verb that takes an image from where its operand says.
struct TakingVerb {
  const char* name;
  const char* about;
  const char* operand;
  const char* is;  // what the operand is
  Result<image::Image> (*take)(const image::Store&, const std::string& name,
                               const std::string& source, const image::Unpacker&);
};

void add_taking_verb(CLI::App& group, const TakingVerb& taking, Context& context) {
  auto flags = std::make_shared<MakeFlags>();
  CLI::App* const verb = group.add_subcommand(taking.name, taking.about);
  verb->add_option(taking.operand, flags->source, taking.is)->required();
  add_flags(*verb, *flags);
  verb->callback([flags, take = taking.take, &context] {
    tell(made(
             *flags, name_of(flags->source),
             [&](const image::Store& store, const std::string& name,
                 const image::Unpacker& unpacker) {
               return take(store, name, flags->source, unpacker);
             },
             context),
         *flags, context);
  });
}

}  // namespace

void add_image_pull(CLI::App& group, Context& context) {
  add_taking_verb(
      group,
      {.name = "pull",
       .about = "fetch an OCI image, by skopeo: oci:DIR, docker-archive:FILE, docker://HOST/NAME",
       .operand = "SOURCE",
       .is = "Where it is",
       .take = image::pull},
      context);
}

void add_image_import(CLI::App& group, Context& context) {
  add_taking_verb(group,
                  {.name = "import",
                   .about = "take a directory, or a tar, as an image of one layer",
                   .operand = "PATH",
                   .is = "The directory, or the file",
                   .take = image::import_tree},
                  context);
}

void add_image_build(CLI::App& group, Context& context) {
  auto flags = std::make_shared<MakeFlags>();
  std::string about = "build one from Debian's packages, by mmdebstrap:";
  for (const image::Recipe& recipe : image::recipes()) {
    about += fmt::format(" {} ({});", recipe.name, recipe.words);
  }
  about.pop_back();
  CLI::App* const verb = group.add_subcommand("build", about);
  verb->add_option("RECIPE", flags->source, "Which; `debian` is debian-12")->required();
  verb->add_option("--include", flags->packages, "Further packages")->delimiter(',');
  add_flags(*verb, *flags);
  verb->callback([flags, &context] {
    const std::string wanted = flags->source == "debian" ? "debian-12" : flags->source;
    const auto known = image::recipes();
    const auto recipe = std::ranges::find(known, wanted, &image::Recipe::name);
    if (recipe == known.end()) {
      return fail(context, {Errc::invalid, "there is no recipe " + terminal::printable(wanted) +
                                               "; see cordon image build --help"});
    }
    tell(made(
             *flags, std::string{recipe->name},
             [&](const image::Store& store, const std::string& name,
                 const image::Unpacker& unpacker) {
               return image::build(store, name, *recipe, flags->packages, unpacker);
             },
             context),
         *flags, context);
  });
}

}  // namespace cordon::cli
