// SPDX-License-Identifier: Apache-2.0
#include "audit/segment.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include <fmt/format.h>

#include "audit/canonical.h"
#include "base/bytes.h"
#include "base/id.h"
#include "os/directory.h"
#include "os/file.h"

namespace cordon::audit {
namespace {

constexpr std::string_view kSegmentSuffix = ".log";
constexpr std::string_view kLeavesSuffix = ".leaves";
constexpr std::size_t kNameDigits = 20;
constexpr std::size_t kMostSegments = 1'000'000;

void append_hex(std::string& out, const Digest& digest) {
  out.append("\"").append(to_hex(digest)).append("\"");
}

Digest quoted_digest(CanonicalReader& from) {
  Digest digest{};
  from.expect("\"");
  from.hex(digest);
  from.expect("\"");
  return digest;
}

std::string name_of_part(std::uint64_t first, std::string_view suffix) {
  return fmt::format("{:020}{}", first, suffix);
}

// The number of the first record; nothing where `name` is that of something else.
std::optional<std::uint64_t> first_of(std::string_view name, std::string_view suffix) {
  if (name.size() != kNameDigits + suffix.size() || !name.ends_with(suffix)) return std::nullopt;
  const char* const begin = std::to_address(name.begin());
  std::uint64_t first = 0;
  const auto [end, error] = std::from_chars(begin, begin + kNameDigits, first);
  if (error != std::errc{} || end != begin + kNameDigits) return std::nullopt;
  return first;
}

Result<std::vector<std::uint64_t>> list_parts(const os::Fd& directory, std::string_view suffix) {
  TRY(const auto names, os::list_directory(directory, kMostSegments));
  std::vector<std::uint64_t> firsts;
  for (const std::string& name : names) {
    if (const auto first = first_of(name, suffix)) firsts.push_back(*first);
  }
  std::ranges::sort(firsts);
  return firsts;
}

}  // namespace

std::string encode(const SegmentHead& head) {
  std::string line = R"({"cordon_audit":1,"log":)";
  append_canonical(line, head.log);
  line.append(R"(,"first":)").append(std::to_string(head.tree.end())).append(R"(,"prev":)");
  append_hex(line, head.before);
  line += R"(,"tree":[)";
  for (bool is_first = true; const Digest& hash : head.tree.hashes()) {
    if (!is_first) line += ',';
    is_first = false;
    append_hex(line, hash);
  }
  return line + "]}";
}

Result<SegmentHead> decode_segment_head(std::string_view line) {
  CanonicalReader from{line};
  SegmentHead head;
  from.expect(R"({"cordon_audit":1,"log":)");
  head.log = from.text();
  from.expect(R"(,"first":)");
  const std::uint64_t first = from.number();
  from.expect(R"(,"prev":)");
  head.before = quoted_digest(from);
  from.expect(R"(,"tree":[)");
  std::vector<Digest> hashes;
  while (!from.failed() && !from.take("]")) {
    if (!hashes.empty()) from.expect(",");
    hashes.push_back(quoted_digest(from));
  }
  from.expect("}");
  if (!from.is_done() || !is_base32_name(head.log)) {
    return Error{Errc::invalid, "audit log: a segment does not begin with a head of version 1"};
  }
  TRY(head.tree, TreeRange::from(0, first, hashes));
  return head;
}

std::string segment_name(std::uint64_t first) { return name_of_part(first, kSegmentSuffix); }

std::string leaves_name(std::uint64_t first) { return name_of_part(first, kLeavesSuffix); }

Result<std::vector<std::uint64_t>> list_segments(const os::Fd& directory) {
  return list_parts(directory, kSegmentSuffix);
}

Result<std::vector<std::uint64_t>> list_leaves(const os::Fd& directory) {
  return list_parts(directory, kLeavesSuffix);
}

Result<Link> link_of(std::string_view line) {
  CanonicalReader from{line};
  Link link;
  from.expect(R"({"seq":)");
  link.number = from.number();
  from.expect(R"(,"time_ms":)");
  from.number();
  from.expect(R"(,"ticks_us":)");
  from.number();
  from.expect(R"(,"prev":)");
  link.before = quoted_digest(from);
  from.expect(",");
  if (from.failed() || !line.ends_with('}')) {
    return Error{Errc::invalid, "audit log: a line is no record"};
  }
  return link;
}

}  // namespace cordon::audit
