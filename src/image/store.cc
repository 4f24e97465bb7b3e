// SPDX-License-Identifier: Apache-2.0
#include "image/store.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <unistd.h>

#include "base/bytes.h"
#include "frame/fields.h"
#include "image/erofs_file.h"
#include "image/flatten.h"
#include "os/directory.h"
#include "os/file.h"
#include "os/file_lock.h"
#include "os/file_status.h"
#include "os/random.h"

namespace cordon::image {
namespace stored {

// Of the format of records: one of another number is not read.
constexpr std::uint32_t kVersion = 1;

struct Record {
  std::uint32_t version = kVersion;
  Image image;
  CORDON_FIELDS(Record, self.version, self.image);
};

}  // namespace stored

namespace {

using stored::kVersion;
using stored::Record;

namespace fs = std::filesystem;

constexpr std::size_t kMostImages = 10'000;
constexpr std::string_view kErofs = ".erofs";

template <class T>
std::string fields_text(const T& value) {
  ByteWriter out;
  frame::FieldWriter{out}.put(value);
  return std::string{as_text(out.bytes())};
}

template <class T>
bool read_fields(std::string_view text, T& value) {
  ByteReader reader{as_bytes(text)};
  return frame::FieldReader{reader}.get(value) && reader.left() == 0;
}

std::string hex_of(std::string_view digest) { return std::string{digest.substr(7)}; }

// A name that nobody else has.
Result<std::string> new_name() {
  TRY(const auto random, os::random_bytes<8>());
  return to_hex(random);
}

Status make_directory(const os::Fd& top, const char* name, std::uint32_t mode) {
  Status made = os::mkdirat(top, name, mode);
  if (!made && made.error().code() != Errc::exists) return made;
  return {};
}

Status remove_all(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return Error{Errc::unavailable, error.message()}.with("remove " + path);
  return {};
}

// What is there when this goes is removed.
class Scratch {
 public:
  explicit Scratch(std::string path) : path_{std::move(path)} {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { static_cast<void>(remove_all(path_)); }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

Result<os::Fd> open_directory(const std::string& path) {
  return os::openat(os::at_cwd(), path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

}  // namespace

Result<Store> Store::open(const std::string& directory) {
  auto top = open_directory(directory);
  if (!top) return std::move(top).error().with("images in " + directory);
  return Store{directory, *std::move(top)};
}

Result<Store> Store::make(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  auto top = open_directory(directory);
  if (!top) return std::move(top).error().with("images in " + directory);
  TRY_DO(make_directory(*top, "names", 0755));
  // Trees of others, with directories that anybody may write to: nobody else gets there.
  for (const char* name : {"layers", "roots", "new"}) TRY_DO(make_directory(*top, name, 0700));
  return Store{directory, *std::move(top)};
}

Result<os::Fd> Store::lock() const {
  TRY(os::Fd lock, os::openat(top_, "lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  TRY_DO(os::wait_flock(lock, os::Lock::exclusive));
  return lock;
}

Result<Image> Store::find(std::string_view name) const {
  if (name.empty() || name.starts_with('.') || name.find('/') != std::string_view::npos) {
    return Error{Errc::not_found, "there is no image " + std::string{name}};
  }
  const std::string file = "names/" + std::string{name};
  auto bytes = os::read_file(top_, file.c_str());
  if (!bytes && bytes.error().code() == Errc::not_found) {
    return Error{Errc::not_found, "there is no image " + std::string{name}};
  }
  if (!bytes) return std::move(bytes).error().with(file);
  Record record;
  if (!read_fields(*bytes, record) || record.version != kVersion) {
    return Error{Errc::invalid,
                 "image " + std::string{name} + ": its record is none that this version reads"};
  }
  return std::move(record.image);
}

Result<std::vector<Image>> Store::list() const {
  TRY(const os::Fd names, os::openat(top_, "names", O_RDONLY | O_DIRECTORY));
  TRY(std::vector<std::string> all, os::list_directory(names, kMostImages));
  std::ranges::sort(all);
  std::vector<Image> images;
  for (const std::string& name : all) {
    if (name.starts_with('.')) continue;  // being written
    TRY(Image image, find(name));
    images.push_back(std::move(image));
  }
  return images;
}

std::optional<UnpackedLayer> Store::layer(std::string_view digest) const {
  const auto bytes = os::read_file(top_, ("layers/" + hex_of(digest) + "/about").c_str());
  if (!bytes) return std::nullopt;
  UnpackedLayer known;
  if (!read_fields(*bytes, known) || known.digest != digest) return std::nullopt;
  return known;
}

std::string Store::root_of(const Image& image) const {
  const std::string root = path_ + "/roots/" + root_name(image);
  return image.form == RootForm::erofs ? root + std::string{kErofs} : root;
}

Result<UnpackedLayer> Store::add_layer(const os::Fd& layer, std::string_view digest,
                                       const Unpacker& unpacker) const {
  TRY(const std::string name, new_name());
  const Scratch scratch{path_ + "/new/" + name};
  TRY_DO(os::mkdirat(top_, ("new/" + name).c_str(), 0700));
  TRY_DO(os::mkdirat(top_, ("new/" + name + "/tree").c_str(), 0755));
  TRY(const os::Fd into, open_directory(scratch.path() + "/tree"));
  TRY(UnpackedLayer done, unpacker.layer(layer, into));
  if (!digest.empty() && done.digest != digest) {
    return Error{Errc::invalid, "a layer is " + done.digest + " and not " + std::string{digest} +
                                    ": it was changed on its way, or is not whole"};
  }
  if (!this->layer(done.digest)) {
    TRY_DO(os::create_file(top_, ("new/" + name + "/about").c_str(), fields_text(done), 0600));
    TRY_DO(os::syncfs(into));
    TRY_DO(os::renameat(top_, ("new/" + name).c_str(), top_,
                        ("layers/" + hex_of(done.digest)).c_str(), os::Replace::refuse));
  }
  return done;
}

Status Store::make_root(Image& image) const {
  const std::string place = "roots/" + root_name(image);
  const std::string whole = path_ + "/" + place;
  if (fs::is_directory(whole)) {
    image.form = RootForm::directory;
    return {};
  }
  const std::string file = whole + std::string{kErofs};
  if (!fs::is_regular_file(file)) {
    TRY(const std::string name, new_name());
    const Scratch scratch{path_ + "/new/" + name};
    TRY_DO(os::mkdirat(top_, ("new/" + name).c_str(), 0755));
    const Owners owners = ::geteuid() == 0 ? Owners::kept : Owners::ours;
    TRY(const os::Fd root, open_directory(scratch.path()));
    for (const std::string& layer : image.layers) {
      TRY(const os::Fd from, open_directory(path_ + "/layers/" + hex_of(layer) + "/tree"));
      TRY_DO(put_over(root, from, owners));
    }
    TRY_DO(make_mount_points(root));
    TRY(const bool made, make_erofs(scratch.path(), path_ + "/new/" + name + std::string{kErofs}));
    if (!made) {
      image.form = RootForm::directory;
      TRY_DO(os::syncfs(root));
      return os::renameat(top_, ("new/" + name).c_str(), top_, place.c_str(), os::Replace::refuse);
    }
    TRY_DO(os::renameat(top_, ("new/" + name + std::string{kErofs}).c_str(), top_,
                        (place + std::string{kErofs}).c_str(), os::Replace::refuse));
  }
  image.form = RootForm::erofs;
  // Before the bytes: whoever changes them meanwhile moves the mark.
  TRY(const os::FileStatus about, os::statx(os::at_cwd(), file.c_str()));
  image.file = {.inode = about.inode,
                .size = about.size,
                .changed = static_cast<std::uint64_t>(about.changed.time_since_epoch().count())};
  TRY(image.file.digest, digest_of_file(file));
  return {};
}

Result<Image> Store::add(Image image) const {
  TRY_DO(make_root(image));
  TRY(const std::string part, new_name());
  const std::string written = "names/." + part;
  TRY_DO(os::create_file(top_, written.c_str(), fields_text(Record{.image = image}), 0644));
  TRY_DO(os::syncfs(top_));
  TRY_DO(os::renameat(top_, written.c_str(), top_, ("names/" + image.name).c_str(),
                      os::Replace::allow));
  TRY_DO(sweep());
  return image;
}

Status Store::remove(std::string_view name) const {
  TRY_DO(find(name));
  TRY_DO(os::unlinkat(top_, ("names/" + std::string{name}).c_str()));
  return sweep();
}

// All that no name leads to, and what was left of work that broke off: who has the lock is alone.
Status Store::sweep() const {
  TRY(const std::vector<Image> images, list());
  std::set<std::string> needed;
  for (const Image& image : images) {
    needed.insert("roots/" + fs::path{root_of(image)}.filename().string());
    for (const std::string& layer : image.layers) needed.insert("layers/" + hex_of(layer));
  }
  for (const char* kind : {"layers", "roots", "new"}) {
    TRY(const os::Fd directory, open_directory(path_ + "/" + kind));
    TRY(const auto names, os::list_directory(directory, kMostImages * 16));
    for (const std::string& each : names) {
      if (needed.contains(std::string{kind} + "/" + each)) continue;
      const std::string path = path_ + "/" + kind + "/" + each;
      // A root that a run begins with goes with a later sweep.
      const auto held = open_directory(path);
      if (held && !os::try_flock(*held, os::Lock::exclusive)) continue;
      TRY_DO(remove_all(path));
    }
  }
  return {};
}

Result<os::Fd> hold(const std::string& root) {
  TRY(os::Fd held, open_directory(root));
  TRY_DO(os::try_flock(held, os::Lock::shared));
  return held;
}

}  // namespace cordon::image
