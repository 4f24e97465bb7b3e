// SPDX-License-Identifier: Apache-2.0
// What cordon-unpack says of a document of an OCI image: the little of it that is used, as one
// frame over a pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "frame/fields.h"

namespace cordon::frame {

inline constexpr std::size_t kLongestOciDocument = std::size_t{4} << 20U;
inline constexpr std::size_t kLongestOciFrame = std::size_t{4} << 20U;

// One that a document points to: `digest` is "sha256:" and 64 small hex digits.
struct OciBlob {
  std::string media_type;
  std::string digest;
  std::uint64_t size = 0;
  CORDON_FIELDS(OciBlob, self.media_type, self.digest, self.size);
};

struct OciIndex {
  std::vector<OciBlob> manifests;
  CORDON_FIELDS(OciIndex, self.manifests);
};
struct OciManifest {
  OciBlob config;
  std::vector<OciBlob> layers;  // the lowest first
  CORDON_FIELDS(OciManifest, self.config, self.layers);
};
struct OciConfig {
  std::string os;
  std::string architecture;
  std::string user;
  std::string directory;
  std::vector<std::string> environment;
  std::vector<std::string> entrypoint;
  std::vector<std::string> command;
  CORDON_FIELDS(OciConfig, self.os, self.architecture, self.user, self.directory, self.environment,
                self.entrypoint, self.command);
};
// It is none, or none that is taken.
struct OciRefused {
  std::string text;
  CORDON_FIELDS(OciRefused, self.text);
};

using OciDocument = std::variant<OciIndex, OciManifest, OciConfig, OciRefused>;

// "sha256:" and 64 digits.
bool is_oci_digest(std::string_view text);

// With the length in front.
std::vector<std::byte> encode(const OciDocument& document);
// `body`: a whole frame without its length. Digests are such afterwards.
Result<OciDocument> decode_oci_document(std::span<const std::byte> body);

}  // namespace cordon::frame
