// SPDX-License-Identifier: Apache-2.0
#include "image/keep.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "image/acquire.h"
#include "os/socket.h"

namespace cordon::image {
namespace {

constexpr std::size_t kLongestName = 100;
constexpr std::size_t kLongestSource = 1024;

bool is_nodes_own(std::string_view name) {
  if (!name.starts_with(frame::kNodeImages) || name.size() > kLongestName) return false;
  const std::string_view rest = name.substr(frame::kNodeImages.size());
  return !rest.empty() && std::ranges::all_of(rest, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

// It is shown to people.
bool is_plain(std::string_view source) {
  return source.size() <= kLongestSource &&
         std::ranges::all_of(source, [](char c) { return c > ' ' && c <= '~'; });
}

Status admit(std::string_view name, std::string_view source) {
  if (!is_nodes_own(name)) {
    return Error{Errc::denied, "an image that is not the node's own"};
  }
  if (!is_plain(source)) return Error{Errc::invalid, "a source that is no plain text"};
  return {};
}

frame::ImageKept kept(const Image& image) {
  return {.digest = image.digest, .bytes = image.bytes, .entries = image.entries};
}

class Keeper {
 public:
  Keeper(const Store& store, const Unpacker& unpacker, const os::Fd& archive)
      : store_{store}, unpacker_{unpacker}, archive_{archive} {}

  Result<frame::ImageKept> operator()(const frame::KeepImage& wanted) const {
    TRY_DO(admit(wanted.name, wanted.source));
    if (!archive_) return Error{Errc::invalid, "an image without its archive"};
    TRY(const os::Fd lock, store_.lock());
    TRY(const std::vector<Image> all, store_.list());
    const auto own =
        std::ranges::count_if(all, [](const Image& each) { return is_nodes_own(each.name); });
    if (static_cast<std::size_t>(own) >= kMostNodeImages) {
      return Error{Errc::exhausted, "the node has made as many images as are kept"};
    }
    TRY(const UnpackedLayer layer, store_.add_layer(archive_, {}, unpacker_));
    Image about{.name = wanted.name, .source = wanted.source, .config = wanted.config};
    TRY(const Image made, add_alone(store_, std::move(about), layer));
    return kept(made);
  }

  Result<frame::ImageKept> operator()(const frame::RelabelImage& wanted) const {
    TRY_DO(admit(wanted.name, wanted.source));
    TRY(const os::Fd lock, store_.lock());
    TRY(Image image, store_.find(wanted.name));
    image.source = wanted.source;
    TRY(const Image made, store_.add(std::move(image)));
    return kept(made);
  }

  Result<frame::ImageKept> operator()(const frame::ForgetImage& wanted) const {
    TRY_DO(admit(wanted.name, {}));
    TRY(const os::Fd lock, store_.lock());
    TRY_DO(store_.remove(wanted.name));
    return frame::ImageKept{};
  }

 private:
  const Store& store_;
  const Unpacker& unpacker_;
  const os::Fd& archive_;
};

}  // namespace

frame::FromKeeper keep(const Store& store, const Unpacker& unpacker, const frame::ToKeeper& wanted,
                       const os::Fd& archive) {
  auto done = std::visit(Keeper{store, unpacker, archive}, wanted);
  if (!done) return frame::NotKept{done.error().text()};
  return *std::move(done);
}

Status keep_for_node(const Store& store, const Unpacker& unpacker, const os::Fd& node) {
  std::vector<std::byte> room(frame::kLongestKeeperMessage);
  while (true) {
    TRY(os::Received got, os::receive(node, room, 1));
    if (got.bytes == 0) return {};
    TRY(const frame::ToKeeper wanted, frame::decode_to_keeper(std::span{room}.first(got.bytes)));
    const os::Fd archive = got.fds.empty() ? os::Fd{} : std::move(got.fds.front());
    TRY_DO(os::send(node, frame::encode(keep(store, unpacker, wanted, archive))));
  }
}

}  // namespace cordon::image
