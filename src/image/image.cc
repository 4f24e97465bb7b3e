// SPDX-License-Identifier: Apache-2.0
#include "image/image.h"

#include "base/bytes.h"
#include "hash/sha256.h"

namespace cordon::image {

std::string root_name(const Image& image) {
  Sha256 hash;
  for (const std::string& layer : image.layers) {
    hash.add(as_bytes(layer));
    hash.add(as_bytes("\n"));
  }
  Digest digest{};
  hash.end(digest);
  return to_hex(digest);
}

}  // namespace cordon::image
