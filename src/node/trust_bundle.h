// SPDX-License-Identifier: Apache-2.0
// The bundle of authorities that one sandbox trusts: the host's, and its own beside them.
#pragma once

#include <string>

#include "base/id.h"
#include "base/result.h"

namespace cordon::node {

class TrustBundle {
 public:
  // Writes it below `state`, where Cordon keeps its own files. `certificate`: PEM.
  static Result<TrustBundle> write(const std::string& state, const SandboxId& id,
                                   const std::string& certificate);
  // What write() has left of a sandbox that lives on, where there is one.
  static TrustBundle adopt(const std::string& state, const SandboxId& id);
  TrustBundle(TrustBundle&& other) noexcept;
  TrustBundle& operator=(TrustBundle&&) = delete;
  // Removes the file.
  ~TrustBundle();

  const std::string& path() const noexcept { return path_; }
  // The host's own bundle; empty where it has none, and for one that was adopted.
  const std::string& system() const noexcept { return system_; }

 private:
  TrustBundle(std::string path, std::string system)
      : path_{std::move(path)}, system_{std::move(system)} {}
  std::string path_;
  std::string system_;
};

}  // namespace cordon::node
