// SPDX-License-Identifier: Apache-2.0
// From the JSON of an OCI image's documents to the little of it that is used.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "frame/oci.h"

namespace cordon::unpack {

enum class OciKind : std::uint8_t { index, manifest, config };
// "index", "manifest", "config".
std::optional<OciKind> oci_kind_from_string(std::string_view name);

// What is no such document, or points to what is never taken, is OciRefused with why.
frame::OciDocument read_oci_document(OciKind kind, std::string_view json);

}  // namespace cordon::unpack
