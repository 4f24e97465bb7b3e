// SPDX-License-Identifier: Apache-2.0
// The tools run and run_code.
#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include "base/bytes.h"
#include "cli/mcp/tools.h"
#include "cli/run_words.h"
#include "os/random.h"

namespace cordon::cli {
namespace {

// Between two words that we are at work.
constexpr std::chrono::seconds kProgress{3};
// What a person is shown of an output.
constexpr std::size_t kShown = 2000;
constexpr std::size_t kLongestResult = 4000;

// Runs what comes on its input; the value of a last expression goes behind a mark that no program
// can know beforehand, on the error stream, from which it is taken again.
constexpr const char* kPython = R"(import ast, sys
mark, code = sys.argv.pop(), sys.stdin.read()
tree, names, last = ast.parse(code, "<code>"), {"__name__": "__main__"}, None
if tree.body and isinstance(tree.body[-1], ast.Expr):
    last = ast.Expression(tree.body.pop().value)
exec(compile(tree, "<code>", "exec"), names)
if last is not None:
    value = eval(compile(last, "<code>", "eval"), names)
    if value is not None:
        sys.stdout.flush()
        sys.stderr.write(mark + repr(value))
)";

bool is_variable(std::string_view name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  constexpr std::string_view kAll =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return !name.empty() && kLetters.find(name[0]) != std::string_view::npos &&
         name.find_first_not_of(kAll) == std::string_view::npos;
}

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

Result<std::vector<std::string>> command_in(const json::object& arguments) {
  const json::value* const argv = arguments.if_contains("argv");
  const json::string* const command = mcp::server::text_at(arguments, "command");
  if ((argv != nullptr) == (command != nullptr)) {
    return Error{Errc::invalid, "say `command` or `argv`, one of the two"};
  }
  std::vector<std::string> words;
  if (command != nullptr) {
    words = {"/bin/sh", "-c", std::string{*command}};
  } else {
    for (const json::value& word : argv->as_array()) words.emplace_back(word.as_string());
  }
  if (words.front().empty() || std::ranges::any_of(words, has_nul)) {
    return Error{Errc::invalid, "a command has no empty program, and no NUL in its words"};
  }
  return words;
}

Result<std::map<std::string, std::string>> variables_in(const json::object& arguments) {
  std::map<std::string, std::string> all;
  const json::object* const given = mcp::server::object_at(arguments, "env");
  if (given == nullptr) return all;
  if (given->size() > wire::kMostVariables) return Error{Errc::invalid, "`env` has too many"};
  for (const auto& [name, value] : *given) {
    const std::string_view text = value.as_string();
    if (!is_variable(name) || has_nul(text) || text.size() > wire::kLongestArgument) {
      return Error{Errc::invalid,
                   fmt::format("`env` has no variable `{}`", std::string_view{name})};
    }
    all.emplace(name, text);
  }
  return all;
}

// Inside; relative to the workspace.
Result<std::string> directory_in(const json::object& arguments, const std::string& workspace) {
  const std::string said = text_in(arguments, "cwd");
  if (said.empty()) return std::string{};
  if (has_nul(said)) return Error{Errc::invalid, "`cwd` has a NUL in it"};
  return (std::filesystem::path{workspace} / said).lexically_normal().string();
}

Result<JobOrder> order_in(const json::object& arguments, Sandboxes& sandboxes,
                          const std::string& workspace) {
  JobOrder order;
  TRY(order.start.command, command_in(arguments));
  TRY(order.start.environment, variables_in(arguments));
  TRY(order.start.directory, directory_in(arguments, workspace));
  order.start.input = text_in(arguments, "stdin");
  order.keeps_input = flag_in(arguments, "keep_stdin");
  // Last: it may be used up by this.
  TRY(order.sandbox, sandboxes.take(text_in(arguments, "sandbox")));
  return order;
}

// Takes the value behind `mark` off `text`.
std::optional<std::string> take_result(std::string& text, const std::string& mark) {
  const std::size_t at = mark.empty() ? std::string::npos : text.rfind(mark);
  if (at == std::string::npos) return std::nullopt;
  std::string value = text.substr(at + mark.size());
  text.resize(at);
  return std::string{mcp::server::whole_characters(value, 0, kLongestResult)};
}

std::string state_line(const Job& job) {
  if (!job.is_over) {
    return fmt::format("still running as {}: read, write, signal or wait for it with process\n",
                       job.name);
  }
  if (!job.ended_by.empty()) return fmt::format("cordon: {}\n", job.ended_by);
  if (job.signal) return fmt::format("ended by {}\n", signal_name(*job.signal));
  return job.exit_code && *job.exit_code != 0 ? fmt::format("exit {}\n", *job.exit_code) : "";
}

}  // namespace

asio::awaitable<void> Tools::wait_for(Call& call, std::shared_ptr<Job> job, Ticks deadline) {
  call.when_cancelled = [this, job] { at_.jobs.cancel(*job); };
  std::int64_t told = 0;
  Ticks next = std::chrono::steady_clock::now() + kProgress;
  while (!job->is_over && std::chrono::steady_clock::now() < deadline) {
    co_await job->news.wait(std::min(deadline, next));
    if (std::chrono::steady_clock::now() < next) continue;
    next = std::chrono::steady_clock::now() + kProgress;
    if (!call.progress || job->is_over) continue;
    const auto bytes = job->out.size() + job->err.size();
    call.notify("notifications/progress",
                {{"progressToken", *call.progress},
                 {"progress", ++told},
                 {"message", fmt::format("running, {} bytes of output", bytes)}});
  }
  call.when_cancelled = {};
}

ToolResult Tools::command_answer(const Call& call, Job& job, const std::string& mark) {
  const auto most = static_cast<std::size_t>(number_in(call.arguments, "max_output", 20'000));
  const std::string out = mcp::server::as_utf8(job.out.text());
  std::string err = mcp::server::as_utf8(job.err.text());
  const std::optional<std::string> value = take_result(err, mark);
  std::string whole = err.empty() ? out : fmt::format("{}\n[stderr]\n{}", out, err);
  const std::size_t size = whole.size();
  std::string id;
  std::string more;
  if (out.size() > std::min(most, kShown) || err.size() > std::min(most, kShown) || size > kShown) {
    id = outputs_.add(std::move(whole));
    more = fmt::format("read_output {}", id);
  }
  const mcp::server::Cut cut_out = mcp::server::head_and_tail(out, most, more);
  const mcp::server::Cut cut_err = mcp::server::head_and_tail(err, most, more);
  const std::vector<Denial> denials = Jobs::take_denials(job);
  job.told = job.both.end();
  job.is_answered = true;
  job.out.clear();
  job.err.clear();
  const auto until = job.is_over ? job.ended : std::chrono::steady_clock::now();
  json::object structured{
      {"exit_code", or_null(job.exit_code)},
      {"signal", signal_or_null(job.signal)},
      {"running", !job.is_over},
      {"process", job.is_over ? json::value{} : json::value(job.name)},
      {"stdout", cut_out.text},
      {"stderr", cut_err.text},
      {"truncated", cut_out.is_cut || cut_err.is_cut},
      {"output_id", text_or_null(id)},
      {"duration_ms", std::chrono::floor<std::chrono::milliseconds>(until - job.began).count()},
      {"ended_by", text_or_null(job.ended_by)},
      {"changed", nullptr},
      {"denials", to_json(denials)},
      {"level", at_.level},
      {"sandbox", job.sandbox}};
  if (job.changed) {
    structured["changed"] = json::object{{"added", job.changed->added},
                                         {"modified", job.changed->modified},
                                         {"deleted", job.changed->deleted}};
  }
  if (call.tool == "run_code") {
    structured["result"] = or_null(value);
  }
  std::string text = mcp::server::head_and_tail(out, kShown / 2, more).text;
  if (!err.empty()) text += mcp::server::head_and_tail(err, kShown / 2, more).text;
  if (value) text += fmt::format("\n=> {}\n", *value);
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += state_line(job) + mcp::server::as_utf8(words_of(denials));
  return {.structured = std::move(structured), .text = std::move(text)};
}

asio::awaitable<ToolAnswer> Tools::run_order(Call& call, JobOrder order, std::string mark) {
  auto begun = at_.jobs.begin(std::move(order));
  if (!begun) co_return failed(fmt::format("cordon: {}", begun.error().text()));
  const std::shared_ptr<Job> job = *std::move(begun);
  const std::chrono::seconds patience{number_in(call.arguments, "timeout_s", 50)};
  co_await wait_for(call, job, call.began + std::min(patience, kLongestCall));
  ToolResult result = command_answer(call, *job, mark);
  if (!job->not_started.empty()) {
    // Refused, by policy or by this host: nothing ran.
    result.is_error = true;
    result.text = mcp::server::as_utf8(job->not_started);
    result.structured["ended_by"] = result.text;
  }
  co_return result;
}

asio::awaitable<ToolAnswer> Tools::run(Call& call) {
  auto order = order_in(call.arguments, at_.sandboxes, at_.workspace);
  if (!order) co_return failed(fmt::format("cordon: {}", order.error().text()));
  co_return co_await run_order(call, *std::move(order), {});
}

asio::awaitable<ToolAnswer> Tools::run_code(Call& call) {
  JobOrder order;
  auto sandbox = at_.sandboxes.take(text_in(call.arguments, "sandbox"));
  if (!sandbox) co_return failed(fmt::format("cordon: {}", sandbox.error().text()));
  order.sandbox = *std::move(sandbox);
  order.start.input = text_in(call.arguments, "code");
  const std::string language = text_in(call.arguments, "language");
  std::string mark;
  if (language == "python") {
    const auto random = os::random_bytes<16>();
    if (!random) co_return failed(random.error().text());
    mark = "\x1e" + to_hex(*random) + "\x1e";
    order.start.command = {"python3", "-c", kPython, mark};
  } else if (language == "node") {
    order.start.command = {"node", "-"};
  } else {
    order.start.command = {"bash", "-s"};
  }
  co_return co_await run_order(call, std::move(order), mark);
}

}  // namespace cordon::cli
