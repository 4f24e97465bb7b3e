// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/sandboxes.h"

#include <fmt/format.h>

#include "cli/run_words.h"
#include "policy/problem.h"

namespace cordon::cli {
namespace {

constexpr const char* kServerEnds = "cordon: the server ends\n";

struct Prepared {
  std::optional<PreparedRun> run;
  NotStarted why;
};

NotStarted told(const Error& error, const WhyNot& why) {
  NotStarted all{.text = {}, .denials = why.denials};
  for (const Denial& denial : why.denials) all.text += words_of(denial);
  for (const policy::Problem& problem : why.problems.all()) {
    all.text += fmt::format("cordon: {}\n", to_string(problem));
  }
  if (all.text.empty()) all.text = fmt::format("cordon: {}\n", error.text());
  return all;
}

// Beside the loop: it reads the policy anew, and walks the workspace for what is to be hidden.
Prepared prepare(const RunOptions& options, const SandboxHouse& house, ReviewLayer* layer) {
  std::optional<RunId> run;
  if (layer != nullptr) {
    const auto opened = layer->open();
    if (!opened) {
      return {.run = {}, .why = {.text = "cordon: " + opened.error().text() + "\n", .denials = {}}};
    }
    run = *opened;
  }
  WhyNot why;
  auto prepared = prepare_run(options, house.context, house.host, why, run);
  if (!prepared) return {.run = {}, .why = told(prepared.error(), why)};
  return {.run = *std::move(prepared), .why = {}};
}

}  // namespace

Sandboxes::Sandboxes(const SandboxHouse& house, async::Scope& scope, asio::thread_pool& pool,
                     RunOptions options, std::optional<LayerPlace> layer)
    : house_{house}, scope_{scope}, pool_{pool}, usual_{"s1"} {
  if (layer) layer_.emplace(*std::move(layer), house.clock);
  named_[usual_].options = std::move(options);
}

Result<std::string> Sandboxes::resolve(const std::string& name) const {
  const auto found = named_.find(name.empty() ? usual_ : name);
  if (found == named_.end()) {
    return Error{Errc::not_found,
                 fmt::format("there is no sandbox `{}`; leave it out for `{}`", name, usual_)};
  }
  if (found->second.is_once && found->second.is_used) {
    return Error{Errc::not_found,
                 fmt::format("sandbox `{}` was for one command; ask again with request_access, or "
                             "leave it out for `{}`",
                             name, usual_)};
  }
  return found->first;
}

Result<std::string> Sandboxes::take(const std::string& name) {
  TRY(std::string found, resolve(name));
  named_.find(found)->second.is_used = true;
  return found;
}

const RunOptions& Sandboxes::options_of(const std::string& name) const {
  return named_.find(name)->second.options;
}

std::string Sandboxes::add(RunOptions wider, bool once) {
  std::string name = fmt::format("s{}", named_.size() + 1);
  Named& added = named_[name];
  added.options = std::move(wider);
  added.is_once = once;
  if (!once) usual_ = name;
  return name;
}

// The layer is mounted by one sandbox at a time: what another left must have ended.
asio::awaitable<bool> Sandboxes::make_room(std::string name, NotStarted& why) {
  const Named& own = named_.find(name)->second;
  for (;;) {
    if (is_over_) {
      why.text = kServerEnds;
      co_return false;
    }
    const bool own_is_going = own.living && own.living->is_ending();
    const Named* other = nullptr;
    for (const auto& [each, named] : named_) {
      if (layer_ && each != name && named.living) other = &named;
    }
    if (!is_launching_ && !own_is_going && other == nullptr) co_return true;
    if (other != nullptr && !other->living->is_ending() && !is_launching_) {
      why.text =
          "cordon: a process still runs in another sandbox, and two cannot write to the same "
          "layer: end it first (process, signal SIGTERM)\n";
      co_return false;
    }
    co_await news_.wait(Ticks::max());
  }
}

asio::awaitable<void> Sandboxes::close_layer(std::string verdict) {
  if (!layer_) co_return;
  static_cast<void>(co_await on_layer([verdict = std::move(verdict)](ReviewLayer& layer) {
    layer.close(verdict);
    return true;
  }));
}

asio::awaitable<std::shared_ptr<LivingSandbox>> Sandboxes::launch(std::string name,
                                                                  NotStarted& why) {
  is_launching_ = true;
  Named& named = named_.find(name)->second;
  ReviewLayer* const layer = layer_ ? &*layer_ : nullptr;
  Prepared prepared = co_await async::offload(
      pool_,
      [options = named.options, house = house_, layer] { return prepare(options, house, layer); });
  std::shared_ptr<LivingSandbox> living;
  if (is_over_) {
    why.text = kServerEnds;
  } else if (prepared.run) {
    const std::pair typed{typed_flags(named.options), std::string{}};
    living = std::make_shared<LivingSandbox>(house_, *std::move(prepared.run), typed);
    named.living = living;
    scope_.spawn([](std::shared_ptr<LivingSandbox> self) -> asio::awaitable<void> {
      co_await self->live();
    }(living));
    if (const Status stood = co_await living->stands(); !stood) {
      why.text = fmt::format("cordon: {}\n", stood.error().text());
      co_await living->ended();
      named.living = nullptr;
      living = nullptr;
    }
  } else {
    why = std::move(prepared.why);
  }
  if (!living) co_await close_layer("not started");
  is_launching_ = false;
  news_.tell();
  co_return living;
}

asio::awaitable<std::shared_ptr<LivingSandbox>> Sandboxes::acquire(std::string name,
                                                                   NotStarted& why) {
  Named& named = named_.find(name)->second;
  if (!co_await make_room(name, why)) co_return nullptr;
  if (!named.living && !co_await launch(name, why)) co_return nullptr;
  ++named.holders;
  co_return named.living;
}

asio::awaitable<bool> Sandboxes::release(std::string name) {
  Named& named = named_.find(name)->second;
  if (--named.holders > 0) co_return false;
  const std::shared_ptr<LivingSandbox> living = named.living;
  living->end();
  co_await living->ended();
  const std::optional<Verdict>& verdict = living->verdict();
  co_await close_layer(verdict ? to_line(*verdict) : std::string{"ended"});
  named.living = nullptr;
  news_.tell();
  co_return true;
}

void Sandboxes::end_all() {
  is_over_ = true;
  for (auto& [name, named] : named_) {
    if (named.living) named.living->end();
  }
  news_.tell();
}

}  // namespace cordon::cli
