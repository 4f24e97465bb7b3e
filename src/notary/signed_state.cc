// SPDX-License-Identifier: Apache-2.0
#include "notary/signed_state.h"

#include <algorithm>
#include <optional>
#include <unistd.h>

#include "base/bytes.h"
#include "frame/variant.h"
#include "os/positioned_file.h"

namespace cordon::notary {

// As it lies in the file.
struct KeptState {
  std::uint64_t version = 0;
  std::string log;
  std::uint64_t size = 0;
  std::string hashes;
  std::vector<std::string> closed;
  CORDON_FIELDS(KeptState, self.version, self.log, self.size, self.hashes, self.closed);
};
namespace {

constexpr std::size_t kPlace = 16384;
constexpr std::size_t kFront = sizeof(Digest) + sizeof(std::uint32_t);

using Kept = std::variant<KeptState>;

// Its hash, its length, itself.
std::vector<std::byte> placed(const KeptState& kept) {
  const std::vector<std::byte> body = frame::encode_variant(Kept{kept});
  std::vector<std::byte> bytes(kPlace);
  const Digest digest = sha256({body});
  std::ranges::copy(digest, bytes.begin());
  for (std::size_t i = 0; i < sizeof(std::uint32_t); ++i) {
    bytes[sizeof(Digest) + i] = static_cast<std::byte>(body.size() >> (8U * i));
  }
  std::ranges::copy(body, bytes.begin() + kFront);
  return bytes;
}

std::optional<KeptState> read_place(const os::Fd& file, std::uint64_t version_bit) {
  std::vector<std::byte> bytes(kPlace);
  if (!os::read_at(file, version_bit * kPlace, bytes)) return std::nullopt;
  std::size_t size = 0;
  for (std::size_t i = 0; i < sizeof(std::uint32_t); ++i) {
    size |= std::to_integer<std::size_t>(bytes[sizeof(Digest) + i]) << (8U * i);
  }
  if (size > kPlace - kFront) return std::nullopt;
  const auto body = std::span{bytes}.subspan(kFront, size);
  if (!std::ranges::equal(sha256({body}), std::span{bytes}.first(sizeof(Digest)))) {
    return std::nullopt;
  }
  auto kept = frame::decode_variant<Kept>(body);
  if (!kept) return std::nullopt;
  return std::get<KeptState>(*std::move(kept));
}

}  // namespace

Result<StateFile> StateFile::open(os::Fd file) {
  StateFile opened{std::move(file)};
  const off_t size = ::lseek(opened.file_.get(), 0, SEEK_END);
  if (size < 0) return Error::from_errno("lseek");
  if (size == 0) return opened;
  std::optional<KeptState> newest;
  for (const std::uint64_t place : {0U, 1U}) {
    auto kept = read_place(opened.file_, place);
    if (kept && (!newest || kept->version > newest->version)) newest = std::move(kept);
  }
  if (!newest) {
    return Error{Errc::denied,
                 "notary: what it has signed is not as it wrote it; keep its directory as it is, "
                 "elsewhere, and begin with an empty one"};
  }
  TRY(opened.state_.tree, audit::TreeRange::from_bytes(0, newest->size, newest->hashes));
  opened.version_ = newest->version;
  opened.state_.log = std::move(newest->log);
  opened.state_.closed = std::move(newest->closed);
  return opened;
}

Status StateFile::write(SignedState next) {
  const KeptState kept{.version = version_ + 1,
                       .log = next.log,
                       .size = next.tree.end(),
                       .hashes = next.tree.bytes(),
                       .closed = next.closed};
  TRY_DO(os::write_at(file_, kept.version % 2 * kPlace, placed(kept)));
  TRY_DO(os::sync_data(file_));
  version_ = kept.version;
  state_ = std::move(next);
  return {};
}

}  // namespace cordon::notary
