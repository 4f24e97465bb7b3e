// SPDX-License-Identifier: Apache-2.0
// The sandboxes of one server, by the names that its clients know. A sandbox is new for each
// command, but where another still runs: then it is the same.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/thread_pool.hpp>

#include "async/offload.h"
#include "async/scope.h"
#include "async/task.h"
#include "cli/mcp/living_sandbox.h"
#include "cli/mcp/review_layer.h"
#include "cli/run_options.h"

namespace cordon::cli {

// Why a command was not run, told in full.
struct NotStarted {
  std::string text;
  std::vector<Denial> denials;
};

// Used from the loop's thread only.
class Sandboxes {
 public:
  // `pool` and `scope` outlive it. `options`: what the first sandbox may.
  Sandboxes(const SandboxHouse& house, async::Scope& scope, asio::thread_pool& pool,
            RunOptions options, std::optional<LayerPlace> layer);

  // The name that a client means by `name`; empty: the usual one. `not_found`: there is none, or it
  // was for one command.
  Result<std::string> resolve(const std::string& name) const;
  // The same for a command: one that is for one command is used up.
  Result<std::string> take(const std::string& name);
  // Before: resolve() gave it.
  const RunOptions& options_of(const std::string& name) const;

  // Wider than the usual one, for later commands; no sandbox that lives changes. `once`: for one
  // command. Otherwise it is the usual one from now on.
  std::string add(RunOptions wider, bool once);

  // A standing sandbox, held until release(). Nothing: `why` says it. Sandboxes of two names do not
  // live on one layer at once.
  asio::awaitable<std::shared_ptr<LivingSandbox>> acquire(std::string name, NotStarted& why);
  // Where nobody else holds it, it ends, and has ended when this returns. True: so it did.
  asio::awaitable<bool> release(std::string name);

  // Ends all of them, now; acquire() gives none any more.
  void end_all();

  bool has_layer() const noexcept { return layer_.has_value(); }
  // Blocking work on the layer, off the loop. Before: has_layer().
  template <class Work>
  auto on_layer(Work work) {
    return async::offload(pool_,
                          [this, work = std::move(work)]() mutable { return work(*layer_); });
  }

 private:
  struct Named {
    RunOptions options;
    bool is_once = false;
    bool is_used = false;
    std::shared_ptr<LivingSandbox> living;
    int holders = 0;
  };
  asio::awaitable<bool> make_room(std::string name, NotStarted& why);
  asio::awaitable<std::shared_ptr<LivingSandbox>> launch(std::string name, NotStarted& why);
  asio::awaitable<void> close_layer(std::string verdict);

  SandboxHouse house_;
  async::Scope& scope_;
  asio::thread_pool& pool_;
  std::optional<ReviewLayer> layer_;
  std::map<std::string, Named, std::less<>> named_;
  std::string usual_;
  News news_;  // one began to stand, or has ended
  bool is_launching_ = false;
  bool is_over_ = false;
};

}  // namespace cordon::cli
