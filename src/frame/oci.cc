// SPDX-License-Identifier: Apache-2.0
#include "frame/oci.h"

#include <algorithm>

#include "frame/variant.h"

namespace cordon::frame {
namespace {

bool has_digests(const OciDocument& document) {
  const auto fits = [](const OciBlob& blob) { return is_oci_digest(blob.digest); };
  if (const auto* index = std::get_if<OciIndex>(&document)) {
    return std::ranges::all_of(index->manifests, fits);
  }
  const auto* const manifest = std::get_if<OciManifest>(&document);
  return manifest == nullptr ||
         (fits(manifest->config) && std::ranges::all_of(manifest->layers, fits));
}

}  // namespace

bool is_oci_digest(std::string_view text) {
  constexpr std::string_view kKind = "sha256:";
  constexpr std::size_t kDigits = 64;
  if (!text.starts_with(kKind) || text.size() != kKind.size() + kDigits) return false;
  return std::ranges::all_of(text.substr(kKind.size()), [](char each) {
    return (each >= '0' && each <= '9') || (each >= 'a' && each <= 'f');
  });
}

std::vector<std::byte> encode(const OciDocument& document) {
  return with_length(encode_variant(document));
}

Result<OciDocument> decode_oci_document(std::span<const std::byte> body) {
  TRY(OciDocument document, decode_variant<OciDocument>(body));
  if (!has_digests(document)) return Error{Errc::invalid, "a digest that is none"};
  return document;
}

}  // namespace cordon::frame
