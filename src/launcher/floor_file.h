// SPDX-License-Identifier: Apache-2.0
// The floor of a service, from a file that only root can have written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "launcher/floor.h"
#include "launcher/secret_readers.h"

namespace cordon::launcher {

struct ServiceFloor {
  Floor floor;                            // never with caller ids
  std::uint32_t node_uid = 0;             // the only one whose plans are read
  std::optional<std::uint32_t> node_gid;  // of a node that the launcher starts; absent: as node_uid
  std::string cgroup;   // directory below (v2: beside) the launcher's own group; empty: chosen
  std::string secrets;  // directory of the stores of secrets; empty: there are none
  SecretSources secret_sources;
  std::string notary;  // directory of the notary's key and anchor; empty: no head is signed
  // Directory of images to which what the node has built is added; empty: nothing is.
  std::string image_store;
  bool monitor = true;  // what happens inside is recorded, where the kernel takes the program
  unsigned networks_ahead = 8;
  unsigned groups_ahead = 8;
  unsigned sandboxes_ahead = 8;
  unsigned engines_ahead = 2;  // of sandboxes that stand behind one
};

// The text of a floor: lines of `key = value`, empty lines, and lines that begin with '#'. Strict:
// what is not understood is refused (invalid), as "FILE:LINE: rule"; what is missing, as
// "FILE: rule".
Result<ServiceFloor> parse_floor(std::string_view text, std::string_view file);

// `denied`: it is a link, or somebody but root could have written it, or its directory.
Result<ServiceFloor> read_floor(const std::string& path);

}  // namespace cordon::launcher
