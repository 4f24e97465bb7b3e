// SPDX-License-Identifier: Apache-2.0
#include "fleet/etcd_settings.h"

#include <fmt/format.h>

#include "gate/listening.h"

namespace cordon::fleet {

using policy::Section;

IdentityFiles read_identity(const Section& section, std::string_view whose) {
  IdentityFiles files;
  gate::take_path(section, "authority", files.authority);
  gate::take_path(section, "certificate", files.certificate);
  gate::take_path(section, "key", files.key);
  const int named = static_cast<int>(!files.authority.empty()) +
                    static_cast<int>(!files.certificate.empty()) +
                    static_cast<int>(!files.key.empty());
  if (named == 1 || named == 2) {
    section.problem("authority",
                    fmt::format("[{}]: `authority`, `certificate` and `key` go together: name all "
                                "of them, or none",
                                whose));
  }
  return files;
}

std::vector<std::string> read_members(const Section& section, std::string_view whose) {
  std::vector<std::string> members;
  for (auto& member : section.texts("members").items) members.push_back(std::move(member.value));
  if (members.empty()) {
    section.problem("members", fmt::format("[{}] needs `members`: ADDRESS:PORT of each", whose));
  }
  return members;
}

}  // namespace cordon::fleet
