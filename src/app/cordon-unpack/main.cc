// SPDX-License-Identifier: Apache-2.0
// cordon-unpack: reads an archive, or makes one, for somebody who would rather not. Confined; one
// job, then it ends.
//
// cordon-unpack read [--entries N] [--bytes N]    an archive on standard input, frames
//                                                 (frame/archive.h) on standard output
// cordon-unpack layer [--entries N] [--bytes N]   the same of a layer of an image
// cordon-unpack write tar|tar.gz|tar.zst          the other way
// cordon-unpack oci index|manifest|config         a document of an OCI image, and one frame
//                                                 (frame/oci.h)
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unistd.h>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "frame/guest.h"
#include "os/fd.h"
#include "unpack/confine.h"
#include "unpack/names.h"
#include "unpack/oci_document.h"
#include "unpack/read_archive.h"
#include "unpack/write_archive.h"

namespace {

using namespace cordon;

constexpr int kFailed = 125;

Result<std::size_t> read_input(std::span<std::byte> into) {
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, into.data(), into.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return Error::from_errno("read");
  }
}

Status write_output(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno("write");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

// Frames that go out together: whenever there are enough of them, or more has to come in.
class OutputFrames {
 public:
  Status put(const frame::FromArchive& frame) {
    const std::vector<std::byte> bytes = encode(frame);
    held_.insert(held_.end(), bytes.begin(), bytes.end());
    const bool is_last = std::holds_alternative<frame::ArchiveEnd>(frame) ||
                         std::holds_alternative<frame::ArchiveRefused>(frame);
    return is_last || held_.size() >= kEnough ? flush() : Status{};
  }
  Status flush() {
    const Status written = write_output(held_);
    held_.clear();
    return written;
  }

 private:
  static constexpr std::size_t kEnough = std::size_t{64} << 10U;
  std::vector<std::byte> held_;
};

// Frames of standard input, one after the other.
class InputFrames {
 public:
  Result<frame::ToArchive> next() {
    while (true) {
      TRY(const auto body, cutter_.next());
      if (body) return frame::decode_to_archive(*body);
      TRY(const std::size_t count, read_input(buffer_));
      if (count == 0) return Error{Errc::invalid, "the entries have no end"};
      cutter_.push(std::span{buffer_}.first(count));
    }
  }

 private:
  frame::FrameCutter cutter_{frame::kLongestArchiveFrame};
  std::vector<std::byte> buffer_ = std::vector<std::byte>(std::size_t{64} << 10U);
};

Status read(const unpack::Limits& limits) {
  OutputFrames frames;
  return unpack::read_archive(
      [&](std::span<std::byte> into) -> Result<std::size_t> {
        TRY_DO(frames.flush());
        return read_input(into);
      },
      [&](const frame::FromArchive& frame) { return frames.put(frame); }, limits);
}

Status write(unpack::Packing packing) {
  InputFrames frames;
  return unpack::write_archive([&] { return frames.next(); }, write_output, packing,
                               {.control_characters = true});
}

Status read_document(unpack::OciKind kind) {
  std::string json;
  std::array<std::byte, std::size_t{16} << 10U> part{};
  while (json.size() <= frame::kLongestOciDocument) {
    TRY(const std::size_t count, read_input(part));
    if (count == 0) break;
    json += as_text(std::span{part}.first(count));
  }
  return write_output(encode(unpack::read_oci_document(kind, json)));
}

std::optional<unpack::Limits> limits_of(unpack::Limits limits, std::span<char* const> words) {
  if (words.size() % 2 != 0) return std::nullopt;
  for (; !words.empty(); words = words.subspan(2)) {
    const std::string_view name{words[0]};
    const std::string_view value{words[1]};
    if (name != "--entries" && name != "--bytes") return std::nullopt;
    std::uint64_t& limit = name == "--entries" ? limits.entries : limits.bytes;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), limit);
    if (error != std::errc{} || end != value.data() + value.size()) return std::nullopt;
  }
  return limits;
}

int usage() {
  static_cast<void>(
      std::fputs("cordon: unpack: read|layer [--entries N] [--bytes N] | write "
                 "tar|tar.gz|tar.zst | oci index|manifest|config\n",
                 stderr));
  return 2;
}

int fail(const Error& error) {
  static_cast<void>(std::fprintf(stderr, "cordon: unpack: %s\n", error.text().c_str()));
  return kFailed;
}

// The job, or nothing: it is none of ours.
std::function<Status()> job_of(std::span<char* const> words) {
  const std::string_view verb{words.size() > 1 ? words[1] : ""};
  if (verb == "read" || verb == "layer") {
    const auto limits =
        limits_of(verb == "layer" ? unpack::kLayerLimits : unpack::Limits{}, words.subspan(2));
    if (limits) return [limits] { return read(*limits); };
  }
  if (words.size() != 3) return nullptr;
  if (verb == "write") {
    const auto packing = unpack::packing_from_string(words[2]);
    if (packing) return [packing] { return write(*packing); };
  }
  if (verb == "oci") {
    const auto kind = unpack::oci_kind_from_string(words[2]);
    if (kind) return [kind] { return read_document(*kind); };
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const auto job = job_of({argv, static_cast<std::size_t>(argc)});
  if (!job) return usage();
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  static_cast<void>(unpack::use_utf8_names());
  if (const Status confined = unpack::confine(); !confined) return fail(confined.error());
  const Status done = job();
  // No destructor of the program's has anything left to do that the filter would let it do.
  ::_exit(done ? 0 : fail(done.error()));
}
