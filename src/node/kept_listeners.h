// SPDX-License-Identifier: Apache-2.0
// The sockets at which a node listens, of which its launcher has copies: a node that comes after it
// goes on with them, and nobody who connects in between is refused.
#pragma once

#include <vector>

#include "async/task.h"
#include "node/settings.h"
#include "os/fd.h"
#include "sandbox/process/launcher_link.h"

namespace cordon::node {

class KeptListeners {
 public:
  // Those of an earlier node, where it listened at the same addresses; else new ones. Begins anew
  // where the launcher dies meanwhile. `launcher` outlives it.
  static async::Task<KeptListeners> open(const Settings& settings, sandbox::LauncherLink& launcher);

  // A copy to accept from; empty where there is none.
  Result<os::Fd> local() const;
  Result<os::Fd> tcp() const;

  // Hands copies of all to a launcher that has none.
  async::Task<void> deposit() const;

 private:
  static async::Task<KeptListeners> open_once(const Settings& settings,
                                              sandbox::LauncherLink& launcher);
  explicit KeptListeners(sandbox::LauncherLink& launcher) : launcher_{&launcher} {}

  sandbox::LauncherLink* launcher_;
  std::vector<sandbox::KeptListener> all_;
};

}  // namespace cordon::node
