// SPDX-License-Identifier: Apache-2.0
// cordon mcp serve: an MCP server whose tools run commands in sandboxes.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include "async/block_on.h"
#include "cli/audit_verbs.h"
#include "cli/host_cache.h"
#include "cli/machine.h"
#include "cli/mcp/http_door.h"
#include "cli/mcp/instructions.h"
#include "cli/mcp/serve_options.h"
#include "cli/mcp/server.h"
#include "cli/mcp/stdio.h"
#include "cli/mcp/streamable_http.h"
#include "cli/mcp_verbs.h"
#include "cli/run_prepare.h"
#include "cli/run_words.h"
#include "os/random.h"

namespace cordon::cli {
namespace {

// All that a server is made of; what runs in its scope has ended before it.
struct ServeParts {
  const ServeOptions& options;
  const Context& context;
  const HostFacts& host;
  const Clock& clock;
  asio::thread_pool& pool;
  PreparedRun first;  // what the usual sandbox would be
  token::Secret key;
  std::optional<HttpDoor> door;  // nothing: standard input and output
};

std::optional<LayerPlace> layer_of(const ServeParts& parts) {
  if (parts.first.lowered.plan.workspace.kind != frame::WorkspaceKind::review) return std::nullopt;
  return LayerPlace{
      .state = parts.first.state,
      .workspace = parts.first.workspace,
      .marks = parts.host.root ? review::OverlayMarks::trusted : review::OverlayMarks::user};
}

asio::awaitable<bool> serve_in(async::Scope& scope, ServeParts*& parts) {
  const SandboxHouse house{.executor = co_await asio::this_coro::executor,
                           .context = parts->context,
                           .host = parts->host,
                           .clock = parts->clock};
  Sandboxes sandboxes{house, scope, parts->pool, parts->options.run, layer_of(*parts)};
  Jobs jobs{sandboxes, scope};
  Tools tools{{.house = house,
               .sandboxes = sandboxes,
               .jobs = jobs,
               .pool = parts->pool,
               .workspace = parts->first.workspace,
               .level = std::string{to_string(level_of(parts->host).level)},
               .applies_unasked = parts->options.allow_apply},
              mcp::server::Consents{std::move(parts->key)}};
  const mcp::server::ToolList list{{.reaches_network = parts->first.lowered.network.has_value(),
                                    .is_live = !sandboxes.has_layer()}};
  Server server{tools,
                list,
                {.version = CORDON_VERSION,
                 .instructions = instructions_for(parts->first, parts->options.run)},
                scope};
  if (parts->door) {
    co_await serve_http(server, *std::move(parts->door), parts->context);
  } else {
    co_await serve_stdio(server);
  }
  // Nothing outlives its client.
  jobs.cancel_all();
  sandboxes.end_all();
  co_await scope.join();
  if (sandboxes.has_layer()) {
    const auto waits =
        co_await sandboxes.on_layer([](ReviewLayer& layer) { return layer.settle(); });
    if (waits) parts->context.err << words_of_review(waits->text(), kReviewAge);
  }
  co_return true;
}

void tell_refusal(const Error& error, const WhyNot& why, std::ostream& out) {
  for (const Denial& denial : why.denials) out << words_of(denial);
  for (const policy::Problem& problem : why.problems.all()) {
    out << "cordon: " << to_string(problem) << '\n';
  }
  if (why.denials.empty() && why.problems.empty()) out << "cordon: " << error.text() << '\n';
}

// The exit code is the context's.
void serve(const ServeOptions& options, Context& context) {
  name_machine(context);
  const HostFacts host = known_host_facts(context);
  const SystemClock clock;
  WhyNot why;
  auto first = prepare_run(options.run, context, host, why);
  if (!first) {
    tell_refusal(first.error(), why, context.err);
    context.exit = Exit::refused;
    return;
  }
  const auto key = os::random_bytes<kDigestSize>();
  if (!key) return fail(context, key.error());
  std::optional<HttpDoor> door;
  if (!options.http.empty()) {
    auto opened = open_door(options, context);
    if (!opened) return fail(context, std::move(opened).error().with("--http " + options.http));
    door.emplace(*std::move(opened));
  }
  const auto expired = review::RunDirectory::expire(first->state, clock.wall());
  if (!expired) return fail(context, expired.error());
  asio::io_context loop{1};
  asio::thread_pool pool{1};
  const std::string state = first->state;
  ServeParts parts{.options = options,
                   .context = context,
                   .host = host,
                   .clock = clock,
                   .pool = pool,
                   .first = *std::move(first),
                   .key = token::Secret{*key},
                   .door = std::move(door)};
  async::block_on(loop, async::in_scope(serve_in, &parts));
  pool.join();
  seal_soon(state, context);
}

}  // namespace

void add_mcp_serve(CLI::App& group, Context& context) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* const verb =
      group.add_subcommand("serve", "Serves tools that run commands in sandboxes, to MCP clients");
  add_run_flags(*verb, options->run);
  // Of one run with one terminal.
  for (const char* const flag : {"--json", "--raw", "--quiet"}) {
    verb->remove_option(verb->get_option(flag));
  }
  verb->add_option("--http", options->http,
                   "Serve streamable HTTP at HOST:PORT of this machine, or unix:PATH, in place of "
                   "standard input and output");
  verb->add_option("--token-file", options->token_file,
                   "Of --http: the file that holds the token; by default a new one is printed");
  verb->add_flag("--allow-apply", options->allow_apply,
                 "The tool apply lands changes without asking a person");
  verb->callback([options, &context] {
    options->run.typed_as = {"cordon", "mcp", "serve"};
    if (!options->run.live && !options->run.read_only) options->run.review = true;
    serve(*options, context);
  });
}

}  // namespace cordon::cli
