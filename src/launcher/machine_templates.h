// SPDX-License-Identifier: Apache-2.0
// Machines that were started once and wait for their Wake: others begin as copies of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::launcher {

// Of one that was saved: whoever begins as it maps the memory for itself.
struct MachineTemplate {
  os::Fd memory;  // sealed: nobody can change what the others begin with
  os::Fd state;   // of its processor and devices, sealed
};

// What a template is good for.
struct TemplateKey {
  std::uint64_t memory = 0;
  bool kvm = false;
  friend auto operator<=>(const TemplateKey&, const TemplateKey&) = default;
};

class MachineTemplates {
 public:
  // nullptr: there is none. In `directory` one may lie that an earlier launcher kept there of the
  // same QEMU, kernel and first file system: it is read the first time that it is asked for.
  const MachineTemplate* find(const TemplateKey& key, const std::string& directory,
                              const std::string& qemu);
  // Before one more is added; removes from `directory` what nobody can begin as any more.
  // `exhausted`: neither here nor there is room for it.
  Status make_room(const std::string& directory, const std::string& qemu) const;
  void add(const TemplateKey& key, MachineTemplate made);
  // For launchers to come. Before: it was added.
  Status keep(const TemplateKey& key, const std::string& directory, const std::string& qemu) const;

 private:
  std::map<TemplateKey, MachineTemplate> templates_;
};

}  // namespace cordon::launcher
