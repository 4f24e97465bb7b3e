// SPDX-License-Identifier: Apache-2.0
// Any bytes as a document of an OCI image: what is read of it travels, and its digests are such.
#include "unpack/oci_document.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "promise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using cordon::unpack::OciKind;
  const std::string_view json{reinterpret_cast<const char*>(data), size};
  for (const OciKind kind : {OciKind::index, OciKind::manifest, OciKind::config}) {
    const auto document = cordon::unpack::read_oci_document(kind, json);
    const auto framed = encode(document);
    const auto again = cordon::frame::decode_oci_document(std::span{framed}.subspan(4));
    if (!again || *again != document) cordon::fuzz::broken("a document that is read again");
  }
  return 0;
}
