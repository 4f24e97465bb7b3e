// SPDX-License-Identifier: Apache-2.0
// Cordon-unpack, which reads what others have written, confined; here are only its words.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "frame/fields.h"
#include "frame/oci.h"
#include "os/fd.h"

namespace cordon::image {

// What came of one layer.
struct UnpackedLayer {
  std::string digest;  // of its bytes as they came
  std::uint64_t size = 0;
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;  // of its files
  std::uint64_t left_out = 0;
  CORDON_FIELDS(UnpackedLayer, self.digest, self.size, self.entries, self.bytes, self.left_out);
};

class Unpacker {
 public:
  // `program`: where cordon-unpack is. `progress` hears how many bytes of a layer were read.
  explicit Unpacker(std::string program, std::function<void(std::uint64_t)> progress = {})
      : program_{std::move(program)}, progress_{std::move(progress)} {}

  // All of `layer`, a file or a pipe, into the directory `into`. On an error part of it is there.
  Result<UnpackedLayer> layer(const os::Fd& layer, const os::Fd& into) const;
  // `kind`: "index", "manifest" or "config".
  Result<frame::OciDocument> document(std::string_view kind, std::string_view json) const;

 private:
  std::string program_;
  std::function<void(std::uint64_t)> progress_;
};

}  // namespace cordon::image
