// SPDX-License-Identifier: Apache-2.0
// An OCI image layout: a directory with index.json and blobs/sha256/. Nothing in it is believed but
// what has the digest that it is asked for by.
#pragma once

#include <string>

#include "base/result.h"
#include "frame/oci.h"
#include "image/unpacker.h"
#include "os/fd.h"

namespace cordon::image {

struct OciImage {
  std::string digest;  // of its manifest
  frame::OciManifest manifest;
  frame::OciConfig config;
};

// The only one of a layout.
Result<OciImage> read_layout(const os::Fd& layout, const Unpacker& unpacker);
// Its bytes are not checked here.
Result<os::Fd> open_blob(const os::Fd& layout, const frame::OciBlob& blob);

}  // namespace cordon::image
