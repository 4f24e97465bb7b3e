// SPDX-License-Identifier: Apache-2.0
#include "audit/tail.h"

#include <algorithm>
#include <unistd.h>

#include "base/bytes.h"
#include "os/file.h"
#include "os/positioned_file.h"

namespace cordon::audit {
namespace {

constexpr std::uint32_t kTailVersion = 1;
constexpr std::size_t kLongestId = 52;
constexpr std::size_t kMostHashes = 64;  // of a tree that begins at 0

void append(ByteWriter& to, std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) to.integer(std::to_integer<std::uint8_t>(byte));
}

Result<Digest> take_digest(ByteReader& from) {
  TRY(const auto bytes, from.take(kDigestSize));
  Digest digest{};
  std::ranges::copy(bytes, digest.begin());
  return digest;
}

Result<LogEnd> read_end(ByteReader& from) {
  LogEnd end;
  TRY(end.log, from.text(kLongestId));
  TRY(end.segment, from.integer<std::uint64_t>());
  TRY(end.offset, from.integer<std::uint64_t>());
  TRY(const auto size, from.integer<std::uint64_t>());
  TRY(end.before, take_digest(from));
  TRY(const auto count, from.integer<std::uint32_t>());
  if (count > kMostHashes) return Error{Errc::invalid, "more hashes than a tree has"};
  std::vector<Digest> hashes(count);
  for (Digest& hash : hashes) {
    TRY(hash, take_digest(from));
  }
  TRY(end.tree, TreeRange::from(0, size, hashes));
  return end;
}

}  // namespace

Result<BootId> this_boot() {
  TRY(const std::string text, os::read_file(os::at_cwd(), "/proc/sys/kernel/random/boot_id"));
  const Digest digest = sha256({as_bytes(text)});
  BootId id{};
  std::copy_n(digest.begin(), id.size(), id.begin());
  return id;
}

std::vector<std::byte> encode(const LogEnd& end, const BootId& boot) {
  ByteWriter to;
  to.integer(kTailVersion);
  append(to, boot);
  to.text(end.log);
  to.integer(end.segment);
  to.integer(end.offset);
  to.integer(end.tree.end());
  append(to, end.before);
  const std::vector<Digest> hashes = end.tree.hashes();
  to.integer(static_cast<std::uint32_t>(hashes.size()));
  for (const Digest& hash : hashes) append(to, hash);
  return std::move(to).take();
}

std::optional<LogEnd> decode_end(std::span<const std::byte> bytes, const BootId& boot) {
  ByteReader from{bytes};
  const auto version = from.integer<std::uint32_t>();
  const auto of = from.take(boot.size());
  if (!version || *version != kTailVersion || !of || !std::ranges::equal(*of, boot)) {
    return std::nullopt;
  }
  auto end = read_end(from);
  if (!end) return std::nullopt;
  return *std::move(end);
}

Status write_tail(const os::Fd& file, const LogEnd& end, const BootId& boot) {
  return os::write_at(file, 0, encode(end, boot));
}

std::optional<LogEnd> read_tail(const os::Fd& file, const BootId& boot) {
  std::array<std::byte, kTailSize> page{};
  const ssize_t got = ::pread(file.get(), page.data(), page.size(), 0);
  if (got <= 0) return std::nullopt;
  return decode_end(std::span{page}.first(static_cast<std::size_t>(got)), boot);
}

}  // namespace cordon::audit
