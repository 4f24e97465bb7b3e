// SPDX-License-Identifier: Apache-2.0
#include "image/acquire.h"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <filesystem>

#include "image/oci_layout.h"
#include "image/skopeo.h"
#include "image/tool.h"
#include "os/file.h"

namespace cordon::image {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMmdebstrap = "/usr/bin/mmdebstrap";
constexpr const char* kSuite = "bookworm";

std::uint64_t now_ms() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

void count(Image& image, const UnpackedLayer& layer) {
  image.layers.push_back(layer.digest);
  image.bytes += layer.bytes;
  image.entries += layer.entries;
  image.left_out += layer.left_out;
}

// What the tool writes is the layer.
Result<Image> add_output(const Store& store, const std::string& name, const std::string& source,
                         const Tool& tool, const Unpacker& unpacker) {
  TRY(os::Pipe tar, os::pipe2());
  TRY(RunningTool running, RunningTool::start(tool, &tar.write));
  tar.write = os::Fd{};
  auto layer = store.add_layer(tar.read, {}, unpacker);
  tar.read = os::Fd{};
  // Where it did not end well the layer is half of one, whatever became of it.
  TRY_DO(std::move(running).end());
  if (!layer) return std::move(layer).error();
  return add_alone(store, {.name = name, .source = source}, *layer);
}

// Where this host has its packages from.
std::vector<std::string> package_sources() {
  std::vector<std::string> found;
  if (fs::exists("/etc/apt/sources.list") && fs::file_size("/etc/apt/sources.list") > 0) {
    found.emplace_back("/etc/apt/sources.list");
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator{"/etc/apt/sources.list.d", ignored}) {
    const std::string kind = entry.path().extension().string();
    if (kind == ".list" || kind == ".sources") found.push_back(entry.path().string());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

Result<Image> add_alone(const Store& store, Image about, const UnpackedLayer& layer) {
  about.digest = layer.digest;
  about.made_ms = now_ms();
  count(about, layer);
  return store.add(std::move(about));
}

Result<Image> pull(const Store& store, const std::string& name, const std::string& source,
                   const Unpacker& unpacker) {
  TRY(const FetchedLayout fetched, FetchedLayout::fetch(source));
  TRY(const os::Fd layout,
      os::openat(os::at_cwd(), fetched.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  TRY(OciImage found, read_layout(layout, unpacker));
  TRY(const os::Fd lock, store.lock());
  Image image{.name = name,
              .source = source,
              .digest = found.digest,
              .made_ms = now_ms(),
              .config = std::move(found.config)};
  for (const frame::OciBlob& blob : found.manifest.layers) {
    if (auto known = store.layer(blob.digest)) {
      count(image, *known);
      continue;
    }
    TRY(const os::Fd file, open_blob(layout, blob));
    TRY(const UnpackedLayer layer, store.add_layer(file, blob.digest, unpacker));
    count(image, layer);
  }
  return store.add(std::move(image));
}

Result<Image> import_tree(const Store& store, const std::string& name, const std::string& path,
                          const Unpacker& unpacker) {
  TRY(const os::Fd open, os::openat(os::at_cwd(), path.c_str(), O_RDONLY));
  TRY(const os::Fd lock, store.lock());
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    return add_output(
        store, name, "dir:" + path,
        {.program = "/usr/bin/tar",
         .arguments = {"tar", "--create", "--file=-", "--sort=name", "--numeric-owner",
                       "--one-file-system", "--directory=" + path, "."}},
        unpacker);
  }
  TRY(const UnpackedLayer layer, store.add_layer(open, {}, unpacker));
  return add_alone(store, {.name = name, .source = "tar:" + path}, layer);
}

std::span<const Recipe> recipes() {
  static const std::vector<Recipe> kRecipes{
      {"debian-12", "Debian 12, the least of it", {"ca-certificates"}},
      {"python",
       "Debian 12 with Python, pip, git and a compiler",
       {"ca-certificates", "python3", "python3-pip", "python3-venv", "git", "gcc", "libc6-dev"}},
      {"node", "Debian 12 with Node.js, npm and git", {"ca-certificates", "nodejs", "npm", "git"}},
  };
  return kRecipes;
}

Result<Image> build(const Store& store, const std::string& name, const Recipe& recipe,
                    const std::vector<std::string>& packages, const Unpacker& unpacker) {
  if (!fs::exists(kMmdebstrap)) {
    return Error{Errc::unavailable, "images are built by mmdebstrap, which is not installed"};
  }
  std::string include;
  for (const auto* list : {&recipe.packages, &packages}) {
    for (const std::string& each : *list) include += (include.empty() ? "" : ",") + each;
  }
  Tool tool{.program = kMmdebstrap,
            .arguments = {"mmdebstrap", "--variant=minbase", "--format=tar", "--include=" + include,
                          "--dpkgopt=path-exclude=/usr/share/man/*",
                          "--dpkgopt=path-exclude=/usr/share/doc/*",
                          "--dpkgopt=path-include=/usr/share/doc/*/copyright", kSuite, "-"}};
  for (std::string& each : package_sources()) tool.arguments.push_back(std::move(each));
  TRY(const os::Fd lock, store.lock());
  return add_output(store, name, "debian:" + std::string{recipe.name}, tool, unpacker);
}

}  // namespace cordon::image
