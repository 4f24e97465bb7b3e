// SPDX-License-Identifier: Apache-2.0
#include "broker/store.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/bytes.h"
#include "frame/broker.h"
#include "os/file_status.h"
#include "os/positioned_file.h"

namespace cordon::broker {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t kSlot = 4096;  // from one header to the other
constexpr std::size_t kPrefix = sizeof(std::uint32_t);
// Change, length of the tenant's name, length of the secret's name.
constexpr std::size_t kHead = 3;
constexpr std::size_t kLongestRecord =
    kHead + 2 * Store::kLongestName + frame::kLongestSecret + kSealAdds;

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span{&value, 1});
}

// What a record is about: its run and its place in it, so that none can stand elsewhere.
std::array<std::uint64_t, 3> about_record(std::uint64_t begin, std::uint64_t number) {
  return {0x6472'6f63'6572'0001, begin, number};
}
constexpr std::array<std::uint64_t, 1> kAboutHeader{0x7265'6461'6568'0001};

Error changed(std::string_view what) {
  return Error{Errc::invalid, "store of secrets: " + std::string{what}};
}

Status check_name(const StoredName& name) {
  const auto fits = [](const std::string& text) {
    return !text.empty() && text.size() <= Store::kLongestName;
  };
  if (fits(name.tenant) && fits(name.name)) return {};
  return Error{Errc::invalid, "a name of a secret has 1 to 128 bytes"};
}

}  // namespace

Result<Store> Store::open(os::Fd file, os::LockedMemory key) {
  if (key.bytes().size() != kSealKey) return changed("its key has not 32 bytes");
  TRY(const os::FileStatus status, os::statx(file));
  if (status.type != os::FileType::regular) return changed("it is no ordinary file");
  Store store{std::move(file), std::move(key)};
  if (status.size == 0) {
    TRY_DO(store.write_header({.sequence = 1}));
    return store;
  }
  TRY_DO(store.read_header());
  TRY_DO(store.read_run());
  return store;
}

Status Store::read_header() {
  bool found = false;
  for (const std::uint64_t slot : {std::uint64_t{0}, kSlot}) {
    std::array<std::byte, sizeof(Header) + kSealAdds> sealed{};
    Header header;
    // One that is not there yet, or was cut off: then the other counts.
    if (!os::read_at(file_, slot, sealed)) continue;
    if (!unseal(key_.bytes(), std::as_bytes(std::span{kAboutHeader}), sealed,
                std::as_writable_bytes(std::span{&header, 1}))) {
      continue;
    }
    if (found && header.sequence < header_.sequence) continue;
    header_ = header;
    found = true;
  }
  if (!found) return changed("it was changed, or its key is another one");
  return {};
}

Status Store::write_header(Header header) {
  if (stuck_) return Error{Errc::unavailable, "the store of secrets could not be written"};
  // Until all of it is done nobody knows which header is on the disk.
  stuck_ = true;
  std::array<std::byte, sizeof(Header) + kSealAdds> sealed{};
  TRY_DO(seal(key_.bytes(), std::as_bytes(std::span{kAboutHeader}), bytes_of(header), sealed));
  TRY_DO(os::write_at(file_, header.sequence % 2 * kSlot, sealed));
  TRY_DO(os::sync_data(file_));
  header_ = header;
  stuck_ = false;
  return {};
}

Result<os::LockedMemory> Store::open_record(std::uint64_t begin, const Place& place) const {
  std::vector<std::byte> sealed(place.size);
  TRY_DO(os::read_at(file_, place.offset + kPrefix, sealed));
  TRY(os::LockedMemory plain, os::LockedMemory::create(place.size - kSealAdds));
  const auto about = about_record(begin, place.number);
  TRY_DO(unseal(key_.bytes(), std::as_bytes(std::span{about}), sealed, plain.bytes()));
  return plain;
}

Status Store::read_run() {
  std::uint64_t at = header_.begin;
  for (std::uint64_t number = 0; number < header_.count; ++number) {
    Place place{.offset = at, .number = number};
    TRY_DO(os::read_at(file_, at, std::as_writable_bytes(std::span{&place.size, 1})));
    if (place.size < kHead + kSealAdds || place.size > kLongestRecord) {
      return changed("a record has no size of ours");
    }
    auto plain = open_record(header_.begin, place);
    if (!plain) return changed(plain.error().text());
    const auto bytes = plain->bytes();
    const auto tenant = std::to_integer<std::size_t>(bytes[1]);
    const auto name = std::to_integer<std::size_t>(bytes[2]);
    if (kHead + tenant + name > bytes.size()) return changed("a record is too short");
    const auto text = [&](std::size_t from, std::size_t size) {
      return std::string{as_text(bytes.subspan(from, size))};
    };
    StoredName about{text(kHead, tenant), text(kHead + tenant, name)};
    place.head = static_cast<std::uint32_t>(kHead + tenant + name);
    if (const auto old = places_.find(about); old != places_.end()) {
      live_ -= old->second.size;
      places_.erase(old);
    }
    if (bytes[0] == std::byte{static_cast<std::uint8_t>(Change::kept)}) {
      live_ += place.size;
      places_.emplace(std::move(about), place);
    }
    at += kPrefix + place.size;
  }
  if (at != header_.end) return changed("its records do not end where they should");
  return {};
}

Result<Store::Place> Store::append(Header& header, Change change, const StoredName& name,
                                   std::span<const std::byte> secret) {
  const std::size_t head = kHead + name.tenant.size() + name.name.size();
  TRY(os::LockedMemory plain, os::LockedMemory::create(head + secret.size()));
  auto out = plain.bytes();
  out[0] = std::byte{static_cast<std::uint8_t>(change)};
  out[1] = static_cast<std::byte>(name.tenant.size());
  out[2] = static_cast<std::byte>(name.name.size());
  std::ranges::copy(as_bytes(name.tenant), out.subspan(kHead).begin());
  std::ranges::copy(as_bytes(name.name), out.subspan(kHead + name.tenant.size()).begin());
  std::ranges::copy(secret, out.subspan(head).begin());
  const Place place{.offset = header.end,
                    .size = static_cast<std::uint32_t>(out.size() + kSealAdds),
                    .number = header.count,
                    .head = static_cast<std::uint32_t>(head)};
  std::vector<std::byte> record(kPrefix + place.size);
  std::ranges::copy(bytes_of(place.size), record.begin());
  const auto about = about_record(header.begin, place.number);
  TRY_DO(
      seal(key_.bytes(), std::as_bytes(std::span{about}), out, std::span{record}.subspan(kPrefix)));
  TRY_DO(os::write_at(file_, header.end, record));
  header.end += record.size();
  ++header.count;
  return place;
}

Status Store::keep(const StoredName& name, std::span<const std::byte> secret) {
  TRY_DO(check_name(name));
  if (secret.empty() || secret.size() > frame::kLongestSecret) {
    return Error{Errc::invalid, "a secret has 1 byte to 64 KiB"};
  }
  const auto old = places_.find(name);
  if (old == places_.end() && places_.size() == kMost) {
    return Error{Errc::exhausted, "the store of secrets is full"};
  }
  Header header = header_;
  TRY(const Place place, append(header, Change::kept, name, secret));
  TRY_DO(os::sync_data(file_));
  ++header.sequence;
  TRY_DO(write_header(header));
  if (old != places_.end()) live_ -= old->second.size;
  live_ += place.size;
  places_.insert_or_assign(name, place);
  static_cast<void>(compact());  // it is kept, whether or not there is room to tidy
  return {};
}

Result<bool> Store::drop(const StoredName& name) {
  const auto found = places_.find(name);
  if (found == places_.end()) return false;
  Header header = header_;
  TRY_DO(append(header, Change::dropped, name, {}));
  TRY_DO(os::sync_data(file_));
  ++header.sequence;
  TRY_DO(write_header(header));
  live_ -= found->second.size;
  places_.erase(found);
  static_cast<void>(compact());
  return true;
}

Result<os::LockedMemory> Store::read(const StoredName& name) const {
  const auto found = places_.find(name);
  if (found == places_.end()) return Error{Errc::not_found, "there is no secret of that name"};
  TRY(const os::LockedMemory record, open_record(header_.begin, found->second));
  const auto secret = record.bytes().subspan(found->second.head);
  TRY(os::LockedMemory alone, os::LockedMemory::create(secret.size()));
  std::ranges::copy(secret, alone.bytes().begin());
  return alone;
}

std::vector<std::string> Store::names(std::string_view tenant, std::string_view after,
                                      std::size_t most) const {
  std::vector<std::string> found;
  auto at = places_.upper_bound({std::string{tenant}, std::string{after}});
  for (; at != places_.end() && at->first.tenant == tenant && found.size() < most; ++at) {
    found.push_back(at->first.name);
  }
  return found;
}

Status Store::compact() {
  const std::uint64_t all = header_.end - header_.begin;
  if (all < 2 * live_ + kIdle) return {};
  Header header{.sequence = header_.sequence + 1, .begin = header_.end, .end = header_.end};
  std::map<StoredName, Place> moved;
  std::uint64_t live = 0;
  for (const auto& [name, place] : places_) {
    TRY(const os::LockedMemory record, open_record(header_.begin, place));
    TRY(const Place here, append(header, Change::kept, name, record.bytes().subspan(place.head)));
    moved.emplace(name, here);
    live += here.size;
  }
  TRY_DO(os::sync_data(file_));
  const std::uint64_t dead = header_.begin;
  TRY_DO(write_header(header));
  places_ = std::move(moved);
  live_ = live;
  // The other header still names the old run: it counts no more, and what it names is not needed.
  // A file system without holes keeps the blocks.
  static_cast<void>(os::punch_hole(file_, dead, header_.begin - dead));
  return {};
}

}  // namespace cordon::broker
