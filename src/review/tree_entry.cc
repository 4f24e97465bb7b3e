// SPDX-License-Identifier: Apache-2.0
// An O_PATH descriptor first, a look at it, and only then contents through /proc/self/fd.
#include "review/tree_entry.h"

#include <array>
#include <unistd.h>

#include "os/file.h"
#include "os/xattr.h"
#include "review/printable.h"

namespace cordon::review {
namespace {

constexpr std::size_t kTextMost = std::size_t{1} << 20U;
constexpr std::uint64_t kCompareMost = std::uint64_t{256} << 20U;

Result<Entry> open_entry(const os::Fd& dir, const std::string& name) {
  TRY(os::Fd node, os::openat(dir, name.c_str(), O_PATH | O_NOFOLLOW));
  TRY(const auto status, os::statx(node));
  return Entry{.node = std::move(node), .status = status};
}

Status read_mark(const std::string& mark, const std::string& prefix, UpperEntry& upper) {
  const os::FileType type = upper.entry.status.type;
  if (mark == "whiteout" && type == os::FileType::regular) upper.whiteout = true;
  if (mark == "opaque" && type == os::FileType::directory) {
    TRY(const std::string value, os::get_xattr(upper.entry.node, (prefix + mark).c_str()));
    upper.opaque = value == "y";  // "x" only says that whiteouts are written as attributes
  }
  if (mark == "redirect" || mark == "metacopy") {
    return Error{Errc::invalid, "carries " + prefix + mark + ", which no mount of ours writes"};
  }
  return {};
}

Result<std::size_t> read_some(const os::Fd& fd, std::span<char> buffer, off_t at) {
  ssize_t got = 0;
  do {
    got = ::pread(fd.get(), buffer.data(), buffer.size(), at);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return Error::from_errno("pread");
  return static_cast<std::size_t>(got);
}

}  // namespace

Result<std::optional<Entry>> find_entry(const os::Fd& dir, const std::string& name) {
  auto entry = open_entry(dir, name);
  if (entry) return std::optional{*std::move(entry)};
  if (entry.error().code() == Errc::not_found) return std::optional<Entry>{};
  return std::move(entry).error();
}

Result<UpperEntry> read_upper(const os::Fd& dir, const std::string& name, OverlayMarks marks) {
  TRY(Entry entry, open_entry(dir, name));
  UpperEntry upper{.entry = std::move(entry)};
  const os::FileStatus& status = upper.entry.status;
  upper.whiteout = status.type == os::FileType::character_device && status.device_number == 0;
  const std::string prefix = std::string{to_string(marks)} + ".overlay.";
  TRY(const auto names, os::list_xattr(upper.entry.node));
  for (const std::string& attribute : names) {
    if (!attribute.starts_with(prefix)) continue;
    TRY_DO(read_mark(attribute.substr(prefix.size()), prefix, upper));
  }
  return upper;
}

Result<os::Fd> open_contents(const Entry& entry) {
  if (entry.status.type == os::FileType::directory) {
    return os::openat(entry.node, ".", O_RDONLY | O_DIRECTORY);
  }
  if (entry.status.type != os::FileType::regular) {
    return Error{Errc::invalid, "a " + std::string{to_string(entry.status.type)} + " is not read"};
  }
  return os::openat(os::at_cwd(), os::proc_path(entry.node).c_str(), O_RDONLY | O_NONBLOCK);
}

Result<std::optional<std::string>> read_text(const Entry& entry) {
  const bool bounded = entry.status.type == os::FileType::regular && entry.status.size <= kTextMost;
  if (!bounded) return std::optional<std::string>{};
  TRY(const os::Fd file, open_contents(entry));
  auto text = os::read_all(file, kTextMost);
  if (!text && text.error().code() == Errc::exhausted) return std::optional<std::string>{};
  if (!text) return std::move(text).error();
  if (text->find('\0') != std::string::npos) return std::optional<std::string>{};
  return std::optional{*std::move(text)};
}

Result<bool> same_contents(const Entry& a, const Entry& b) {
  if (a.status.size != b.status.size || a.status.size > kCompareMost) return false;
  TRY(const os::Fd file_a, open_contents(a));
  TRY(const os::Fd file_b, open_contents(b));
  std::array<char, 65536> buffer_a{};
  std::array<char, 65536> buffer_b{};
  for (std::uint64_t at = 0; at < a.status.size;) {
    TRY(const std::size_t got_a, read_some(file_a, buffer_a, static_cast<off_t>(at)));
    TRY(const std::size_t got_b, read_some(file_b, buffer_b, static_cast<off_t>(at)));
    const std::string_view text_a{buffer_a.data(), got_a};
    if (text_a != std::string_view{buffer_b.data(), got_b} || got_a == 0) return false;
    at += got_a;
  }
  return true;
}

}  // namespace cordon::review
