// SPDX-License-Identifier: Apache-2.0
// cordon mcp wrap: a third-party MCP server in a sandbox, with the policy's rules over its tools.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/bytes.h"
#include "cli/mcp_face.h"
#include "cli/mcp_filter.h"
#include "cli/mcp_import.h"
#include "cli/mcp_name.h"
#include "cli/mcp_pins.h"
#include "cli/mcp_record.h"
#include "cli/mcp_verbs.h"
#include "cli/run_command.h"
#include "cli/run_words.h"
#include "cli/state_root.h"
#include "mcp/tool_policy.h"
#include "os/random.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

constexpr std::uint64_t kUsualMessage = std::uint64_t{4} << 20U;
constexpr std::uint64_t kShortestWrapped = 4096;
constexpr std::uint64_t kLongestWrapped = std::uint64_t{32} << 20U;

struct WrapOptions {
  RunOptions run;
  std::string name;
  std::uint64_t longest_line = kUsualMessage;
  std::vector<std::string> let;
  bool pins = false;
  bool accept = false;
  ImportOptions import;
};

std::string workspace_of(const WrapOptions& options) {
  std::error_code error;
  return options.run.workspace.empty() ? std::filesystem::current_path(error).string()
                                       : options.run.workspace;
}

Result<PinStore> store_of(const WrapOptions& options, const std::string& state,
                          const Context& context) {
  return PinStore::open(state, command_digest(options.run.command, workspace_of(options), context));
}

// As they were when its tools were pinned; at first sight they are pinned with them.
Status check_files(const WrapOptions& options, const PinStore& store, mcp::PinFile& pins,
                   const Context& context, const std::string& accepting) {
  TRY(const std::string now, files_digest(options.run.command, workspace_of(options), context));
  if (pins.files == now) return {};
  if (!pins.files.empty()) {
    return Error{Errc::denied,
                 "the server's own files have changed since its tools were pinned; look at them, "
                 "then: " +
                     accepting};
  }
  pins.files = now;
  return store.write(pins);
}

class Wrapped final : public RunCompanion {
 public:
  Wrapped(const WrapOptions& options, Context& context) : options_{options}, context_{context} {}

  Status begin(const PreparedRun& run, audit::Log& log, const audit::Subject& subject,
               node::Responses& responses) override;
  Result<std::unique_ptr<CallerFace>> make_face(const asio::any_io_executor& executor) override;
  std::vector<Denial> take_denials() override {
    return record_ ? record_->take_denials() : std::vector<Denial>{};
  }
  bool is_failed() const noexcept { return is_failed_; }

 private:
  Status take(const mcp::FromFilter& act);
  Status sighted(const mcp::Sighted& sighted);

  std::string accepting() const {
    return "cordon mcp wrap --accept -- " + spelled(options_.run.command);
  }

  const WrapOptions& options_;
  Context& context_;
  std::optional<PinStore> store_;
  std::optional<ToolRecord> record_;
  std::optional<StartedFilter> filter_;
  bool is_failed_ = false;
};

Status Wrapped::begin(const PreparedRun& run, audit::Log& log, const audit::Subject& subject,
                      node::Responses& responses) {
  TRY(PinStore store, store_of(options_, run.state, context_));
  TRY(mcp::PinFile pins, store.read());
  TRY_DO(check_files(options_, store, pins, context_, accepting()));
  store_.emplace(std::move(store));
  record_.emplace(log, subject, options_.run.tool_server, responses);
  TRY(const auto key, os::random_bytes<32>());
  if (!run.policy) return Error{Errc::internal, "a run without a policy"};
  TRY(StartedFilter filter,
      start_filter({.server = options_.run.tool_server,
                    .sandbox = run.id.text(),
                    .documents = mcp::tool_documents_of(*run.policy, options_.run.tool_server),
                    .pins = pins.pinned,
                    .is_first_sight = !pins.is_seen,
                    .longest_line = options_.longest_line,
                    .let = options_.let,
                    .key = std::string{as_text(key)},
                    .accept = accepting()}));
  filter_.emplace(std::move(filter));
  return {};
}

Result<std::unique_ptr<CallerFace>> Wrapped::make_face(const asio::any_io_executor& executor) {
  if (!filter_) return Error{Errc::internal, "a face before its filter"};
  return make_mcp_face(
      executor, *std::move(filter_), [this](const mcp::FromFilter& act) { return take(act); },
      [this](const Error& error) {
        is_failed_ = true;
        context_.err << "cordon: " << terminal::printable(error.text()) << '\n' << std::flush;
      });
}

Status Wrapped::sighted(const mcp::Sighted& sighted) {
  if (!store_) return {};
  TRY(mcp::PinFile pins, store_->read());
  pins.take(sighted);
  if (!sighted.is_pinned) {
    context_.err << fmt::format(
                        "cordon: the tool {} of {} is held back: {}\n  see   {}\n  fix   {}\n",
                        sighted.tool, options_.run.tool_server, terminal::printable(sighted.why),
                        "cordon mcp wrap --pins -- " + spelled(options_.run.command), accepting())
                 << std::flush;
  }
  return store_->write(pins);
}

Status Wrapped::take(const mcp::FromFilter& act) {
  if (!record_ || !store_) return {};
  if (const auto* const called = std::get_if<mcp::Called>(&act)) return record_->called(*called);
  if (const auto* const refused = std::get_if<mcp::Refused>(&act))
    return record_->refused(*refused);
  if (const auto* const seen = std::get_if<mcp::Sighted>(&act)) return sighted(*seen);
  if (const auto* const broken = std::get_if<mcp::Broken>(&act))
    return Error{Errc::invalid, broken->why};
  if (!std::holds_alternative<mcp::SightOver>(act)) return {};
  TRY(mcp::PinFile pins, store_->read());
  pins.is_seen = true;
  return store_->write(pins);
}

void show(const mcp::PinFile& pins, std::ostream& out) {
  for (const mcp::Pin& pin : pins.pinned)
    out << fmt::format("pinned   {}  sha256:{}\n", pin.tool, pin.sha256);
  for (const mcp::WaitingTool& one : pins.waiting) {
    out << fmt::format("waiting  {}  sha256:{}\n  why  {}\n  now  {}\n", one.tool, one.sha256,
                       terminal::printable(one.why), terminal::printable(one.definition));
  }
}

// What is pinned and what waits is shown in full, and accepted where that was said.
Status review_pins(const WrapOptions& options, Context& context) {
  TRY(const std::string state, state_root(context));
  TRY(const PinStore store, store_of(options, state, context));
  TRY(mcp::PinFile pins, store.read());
  if (!pins.is_seen && pins.pinned.empty() && pins.waiting.empty() && pins.files.empty())
    return Error{Errc::not_found, "no tool of this command was seen yet"};
  show(pins, context.out);
  TRY(std::string now, files_digest(options.run.command, workspace_of(options), context));
  const bool has_changed = !pins.files.empty() && pins.files != now;
  if (has_changed) context.out << "changed  the server's own files\n";
  if (!options.accept) return {};
  if (has_changed) context.out << "accepted the server's own files as they are\n";
  pins.files = std::move(now);
  for (const std::string& tool : pins.accept({})) context.out << "accepted " << tool << '\n';
  return store.write(pins);
}

void wrap(WrapOptions& options, Context& context) {
  if (!options.import.file.empty()) {
    options.import.json = std::exchange(options.run.json, {});
    options.import.flags = typed_words(options.run);
    options.import.name = options.name;
    return import_servers(options.import, context);
  }
  if (options.run.command.empty()) {
    context.err << "cordon: which server? cordon mcp wrap -- CMD, or --import FILE\n";
    context.exit = Exit::usage;
    return;
  }
  options.run.tool_server =
      options.name.empty() ? server_name_of(options.run.command) : options.name;
  if (!is_server_name(options.run.tool_server)) {
    context.err << "cordon: --name: a server's name is 1 to 64 of A-Z, a-z, 0-9, _ and -\n";
    context.exit = Exit::usage;
    return;
  }
  if (options.pins || options.accept) {
    if (const Status done = review_pins(options, context); !done) fail(context, done.error());
    return;
  }
  Wrapped wrapped{options, context};
  run_command(options.run, context, &wrapped);
  if (wrapped.is_failed()) context.exit = Exit::not_started;
}

}  // namespace

void add_mcp_wrap(CLI::App& group, Context& context) {
  const auto options = std::make_shared<WrapOptions>();
  options->run.typed_as = {"cordon", "mcp", "wrap"};
  CLI::App* const verb =
      group.add_subcommand("wrap", "Runs an MCP server in a sandbox and polices its tools");
  add_run_flags(*verb, options->run);
  verb->add_option("--name", options->name, "Which [tools.NAME] of the policy is its");
  verb->add_option("--allow-tool", options->run.allow_tools,
                   "A tool that may be called, or like read_*")
      ->allow_extra_args(false);
  verb->add_option("--ask-tool", options->run.ask_tools,
                   "A tool about which a person is asked each time")
      ->allow_extra_args(false);
  verb->add_option("--deny-tool", options->run.deny_tools, "A tool that may not be called")
      ->allow_extra_args(false);
  verb->add_option("--let", options->let, "What the server may ask its client for")
      ->check(CLI::IsMember({"sampling/createMessage", "elicitation/create", "roots/list"}))
      ->allow_extra_args(false);
  verb->add_option("--max-line", options->longest_line, "Bytes of one message")
      ->check(CLI::Range(kShortestWrapped, kLongestWrapped))
      ->capture_default_str();
  verb->add_flag("--pins", options->pins, "Show the tools as they are pinned, and which wait");
  verb->add_flag("--accept", options->accept, "Accept the tools that wait, as they are shown");
  verb->add_option("--import", options->import.file,
                   "Wrap the servers of this client's configuration; the flags go with them");
  verb->add_flag("--dry-run", options->import.dry_run, "With --import: write nothing");
  verb->add_option("command", options->run.command, "The server and its arguments, after --");
  verb->positionals_at_end();
  verb->callback([options, &context] { wrap(*options, context); });
}

}  // namespace cordon::cli
