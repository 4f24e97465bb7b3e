// SPDX-License-Identifier: Apache-2.0
#include "image/unpacker.h"

#include <array>
#include <optional>
#include <span>
#include <thread>
#include <unistd.h>
#include <vector>

#include "base/bytes.h"
#include "frame/archive.h"
#include "frame/guest.h"
#include "hash/sha256.h"
#include "image/tree_writer.h"
#include "os/file.h"
#include "os/pidfd.h"
#include "os/spawn.h"

namespace cordon::image {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10U;
constexpr std::size_t kMostWords = std::size_t{64} << 10U;

Result<std::size_t> read_some(const os::Fd& from, std::span<std::byte> into) {
  while (true) {
    const ssize_t count = ::read(from.get(), into.data(), into.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return Error::from_errno("read");
  }
}

// Gives the worker its input on a thread of its own, because what it says has to be read meanwhile.
class Feeder {
 public:
  using Feed = std::function<Status(const os::Fd& to)>;
  Feeder(os::Fd to, Feed feed)
      : thread_{[this, to = std::move(to), feed = std::move(feed)]() mutable {
          fed_ = feed(to);
          to = os::Fd{};
        }} {}
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;
  ~Feeder() {
    if (thread_.joinable()) thread_.join();
  }
  // What became of it. A worker that has heard enough reads no more.
  Status join() {
    thread_.join();
    return std::move(fed_);
  }

 private:
  Status fed_;
  std::thread thread_;
};

// Its frames, one by one; nothing at their end.
class Frames {
 public:
  Frames(const os::Fd& from, std::size_t longest) : from_{from}, cutter_{longest} {}

  Result<std::optional<std::span<const std::byte>>> next() {
    while (true) {
      TRY(const auto body, cutter_.next());
      if (body) return body;
      TRY(const std::size_t count, read_some(from_, buffer_));
      if (count == 0) return std::optional<std::span<const std::byte>>{};
      cutter_.push(std::span{buffer_}.first(count));
    }
  }

 private:
  const os::Fd& from_;
  frame::FrameCutter cutter_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(kPiece);
};

Result<os::Piped> start(const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "cordon-unpack");
  return os::spawn_piped(program, std::move(arguments), kPiece);
}

// What it says where it could not do its work.
Error failure(os::Piped worker) {
  auto said = os::read_all(worker.err, kMostWords);
  auto ended = std::move(worker.child).wait();
  std::string why = said && !said->empty() ? *said : "cordon-unpack ended";
  while (why.ends_with('\n')) why.pop_back();
  return {Errc::unavailable, ended ? why + " (" + to_string(*ended) + ")" : why};
}

Error refused(const frame::ArchiveRefused& refusal) {
  const std::string at = refusal.entry.empty() ? "" : " at " + refusal.entry;
  return {Errc::invalid, "the layer is not taken: " + refusal.code + at + ": " + refusal.text};
}

// The last frame, when all before it are written.
Result<frame::ArchiveEnd> write_tree(Frames& frames, const os::Fd& into) {
  TreeWriter writer{into, ::geteuid() == 0 ? Owners::kept : Owners::ours};
  while (true) {
    TRY(const auto body, frames.next());
    if (!body) return Error{Errc::unavailable, "cordon-unpack ended without a last word"};
    TRY(const frame::FromArchive said, frame::decode_from_archive(*body));
    if (const auto* refusal = std::get_if<frame::ArchiveRefused>(&said)) return refused(*refusal);
    if (const auto* entry = std::get_if<frame::ArchiveEntry>(&said)) TRY_DO(writer.take(*entry));
    if (const auto* data = std::get_if<frame::ArchiveData>(&said)) TRY_DO(writer.take(*data));
    if (const auto* end = std::get_if<frame::ArchiveEnd>(&said)) {
      TRY_DO(writer.end());
      return *end;
    }
  }
}

}  // namespace

Result<UnpackedLayer> Unpacker::layer(const os::Fd& layer, const os::Fd& into) const {
  TRY(os::Piped worker, start(program_, {"layer"}));
  UnpackedLayer done;
  Sha256 hash;
  Feeder feeder{std::move(worker.in), [&](const os::Fd& to) -> Status {
                  std::vector<std::byte> piece(kPiece);
                  bool is_heard = true;
                  while (true) {
                    TRY(const std::size_t count, read_some(layer, piece));
                    if (count == 0) return {};
                    const auto bytes = std::span{piece}.first(count);
                    hash.add(bytes);
                    done.size += count;
                    if (progress_) progress_(done.size);
                    // What comes behind the end of an archive is part of the layer too.
                    if (is_heard) is_heard = os::write_all(to, as_text(bytes)).has_value();
                  }
                }};
  Frames frames{worker.out, frame::kLongestArchiveFrame};
  auto end = write_tree(frames, into);
  worker.out = os::Fd{};
  const Status fed = feeder.join();
  if (!end && end.error().code() == Errc::unavailable) return failure(std::move(worker));
  if (!end) return end.error();
  if (!fed) return fed.error();
  Digest digest{};
  hash.end(digest);
  done.digest = "sha256:" + to_hex(digest);
  done.entries = end->entries;
  done.bytes = end->bytes;
  done.left_out = end->left_out;
  return done;
}

Result<frame::OciDocument> Unpacker::document(std::string_view kind, std::string_view json) const {
  TRY(os::Piped worker, start(program_, {"oci", std::string{kind}}));
  Feeder feeder{std::move(worker.in), [&](const os::Fd& to) { return os::write_all(to, json); }};
  Frames frames{worker.out, frame::kLongestOciFrame};
  const auto heard = frames.next();
  std::optional<std::span<const std::byte>> body;
  if (heard) body = *heard;
  static_cast<void>(feeder.join());
  if (!body) return failure(std::move(worker));
  auto document = frame::decode_oci_document(*body);
  if (!document) return std::move(document).error().with("cordon-unpack");
  if (const auto* refusal = std::get_if<frame::OciRefused>(&*document)) {
    return Error{Errc::invalid, "the image's " + std::string{kind} + ": " + refusal->text};
  }
  return document;
}

}  // namespace cordon::image
