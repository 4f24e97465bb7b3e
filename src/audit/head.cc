// SPDX-License-Identifier: Apache-2.0
#include "audit/head.h"

#include <fcntl.h>

#include "audit/canonical.h"
#include "audit/segment_lines.h"
#include "base/bytes.h"
#include "base/id.h"
#include "os/file.h"

namespace cordon::audit {
namespace {

constexpr std::string_view kContext = "cordon audit head v1\n";

std::string unsigned_part(const Head& head) {
  std::string text = R"({"log":)";
  append_canonical(text, head.log);
  text.append(R"(,"size":)").append(std::to_string(head.size));
  text.append(R"(,"root":")").append(to_hex(head.root));
  text.append(R"(","time_ms":)").append(std::to_string(head.time.time_since_epoch().count()));
  text.append(R"(,"key":")").append(to_hex(head.key)).append("\"");
  return text;
}

}  // namespace

std::string signed_text(const Head& head) { return std::string{kContext} + unsigned_part(head); }

std::string encode(const Head& head) {
  return unsigned_part(head) + R"(,"signature":")" + to_hex(head.signature) + R"("})";
}

Result<Head> decode_head(std::string_view line) {
  CanonicalReader from{line};
  Head head;
  from.expect(R"({"log":)");
  head.log = from.text();
  from.expect(R"(,"size":)");
  head.size = from.number();
  from.expect(R"(,"root":")");
  from.hex(head.root);
  from.expect(R"(","time_ms":)");
  head.time = WallTime{std::chrono::milliseconds{from.number()}};
  from.expect(R"(,"key":")");
  from.hex(head.key);
  from.expect(R"(","signature":")");
  from.hex(head.signature);
  from.expect(R"("})");
  if (!from.is_done() || !is_base32_name(head.log) || encode(head) != line) {
    return Error{Errc::invalid, "audit log: a line is no head"};
  }
  return head;
}

Result<std::vector<Head>> read_heads(const os::Fd& directory, const std::string& name) {
  std::vector<Head> heads;
  auto file = os::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW);
  if (!file && file.error().code() == Errc::not_found) return heads;
  if (!file) return std::move(file).error().with("heads of the audit log");
  SegmentLines lines{*file, 0};
  while (true) {
    TRY(const auto line, lines.next());
    if (!line) return heads;
    auto head = decode_head(*line);
    if (!head) {
      return std::move(head).error().with("line " + std::to_string(heads.size() + 1) + " of " +
                                          name);
    }
    heads.push_back(*std::move(head));
  }
}

}  // namespace cordon::audit
