// SPDX-License-Identifier: Apache-2.0
// A file that is written whole or not at all, where somebody else may write names too: a sandbox in
// its workspace.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::cli {

// Its directory is held from the beginning: whatever becomes of the names on the way there, it is
// that directory. Nothing that was put there is followed; a link of its name is replaced.
class ReplacedFile {
 public:
  // Errors of both say nothing of its name: who asks knows how it was given.
  static Result<ReplacedFile> open(const std::string& file);
  // Whoever reads it meanwhile reads the old one or the new one.
  Status write(std::string_view bytes, unsigned mode) const;
  // Without its directory.
  const std::string& name() const noexcept { return name_; }

 private:
  ReplacedFile(os::Fd dir, std::string name) : dir_{std::move(dir)}, name_{std::move(name)} {}
  os::Fd dir_;
  std::string name_;
};

}  // namespace cordon::cli
