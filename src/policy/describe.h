// SPDX-License-Identifier: Apache-2.0
// A whole policy in words: what is permitted, where it is written, and what this version does not
// enforce.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.h"

namespace cordon::policy {

struct DescribedLine {
  std::string topic;  // "files", "network": lines of one topic stand together
  std::string text;
  std::string at;  // "cordon.toml:7", or "default"
  friend bool operator==(const DescribedLine&, const DescribedLine&) = default;
};

struct UnenforcedKey {
  std::string key;
  std::string at;
  friend bool operator==(const UnenforcedKey&, const UnenforcedKey&) = default;
};

struct Description {
  std::string file;
  Origin origin = Origin::user;
  std::vector<std::string> presets;
  std::vector<DescribedLine> lines;
  // Stated, known, and held by no fence of this version: launch refuses them.
  std::vector<UnenforcedKey> unenforced;
};

Description describe(const CheckedDocument& checked);

// For people: topics, lines with their place in front, then what is not enforced.
std::string to_text(const Description& description);

}  // namespace cordon::policy
