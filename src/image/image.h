// SPDX-License-Identifier: Apache-2.0
// An image: a root that sandboxes begin with, known by a name, made of layers that are known by
// their digests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frame/launch_plan.h"
#include "frame/oci.h"

namespace cordon::image {

enum class RootForm : std::uint8_t { directory, erofs };
constexpr RootForm last_of(RootForm) noexcept { return RootForm::erofs; }

// "sha256:…", each: of a layer as it came, compressed or not.
struct Image {
  std::string name;
  std::string source;               // where it came from: "docker://127.0.0.1:5000/x:1"
  std::string digest;               // of its manifest; of what had none, of its layer
  std::vector<std::string> layers;  // the lowest first
  RootForm form = RootForm::directory;
  frame::RootFile file;     // of an EROFS
  std::uint64_t bytes = 0;  // of its files
  std::uint64_t entries = 0;
  std::uint64_t left_out = 0;  // devices, FIFOs and sockets that it came with
  std::uint64_t made_ms = 0;   // since 1970
  frame::OciConfig config;
  CORDON_FIELDS(Image, self.name, self.source, self.digest, self.layers, self.form, self.file,
                self.bytes, self.entries, self.left_out, self.made_ms, self.config);
};

// What its root is called: the same layers in the same order are the same root.
std::string root_name(const Image& image);

}  // namespace cordon::image
