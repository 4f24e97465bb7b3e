// SPDX-License-Identifier: Apache-2.0
// The tools process and read_output.
#include <array>
#include <csignal>

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include "cli/mcp/tools.h"
#include "cli/run_words.h"

namespace cordon::cli {
namespace {

struct SignalNumber {
  std::string_view name;
  int number;
};
constexpr std::array kSignals = {SignalNumber{"SIGHUP", SIGHUP},   SignalNumber{"SIGINT", SIGINT},
                                 SignalNumber{"SIGQUIT", SIGQUIT}, SignalNumber{"SIGKILL", SIGKILL},
                                 SignalNumber{"SIGUSR1", SIGUSR1}, SignalNumber{"SIGUSR2", SIGUSR2},
                                 SignalNumber{"SIGTERM", SIGTERM}, SignalNumber{"SIGCONT", SIGCONT},
                                 SignalNumber{"SIGSTOP", SIGSTOP}};

int number_of(std::string_view name) {
  for (const SignalNumber& each : kSignals) {
    if (each.name == name) return each.number;
  }
  return SIGTERM;
}

// The end of a character may be on its way: what is told now ends before it.
std::string_view without_half_character(std::string_view bytes) {
  std::size_t back = 0;
  while (back < 3 && back < bytes.size() &&
         (static_cast<unsigned char>(bytes[bytes.size() - 1 - back]) & 0xC0U) == 0x80) {
    ++back;
  }
  if (back == bytes.size()) return bytes;
  const auto lead = static_cast<unsigned char>(bytes[bytes.size() - 1 - back]);
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  return back + 1 < length ? bytes.substr(0, bytes.size() - 1 - back) : bytes;
}

// From `since` on; with what is to be asked for next.
json::object output_of(Job& job, std::uint64_t since, std::size_t most) {
  std::string_view bytes = job.both.from(since);
  const std::uint64_t from = job.both.end() - bytes.size();
  const bool has_more = bytes.size() > most;
  bytes = bytes.substr(0, most);
  if (has_more || !job.is_over) bytes = without_half_character(bytes);
  const std::uint64_t next = from + bytes.size();
  job.told = next;
  return {{"output", mcp::server::as_utf8(bytes)},
          {"next", next},
          {"skipped", from > since ? from - since : 0},
          {"truncated", has_more}};
}

}  // namespace

asio::awaitable<ToolAnswer> Tools::process(Call& call) {
  const std::string name = text_in(call.arguments, "process");
  const std::shared_ptr<Job> job = at_.jobs.find(name);
  if (!job) co_return failed(fmt::format("cordon: there is no process `{}` any more", name));
  const std::string action = text_in(call.arguments, "action");
  const std::chrono::seconds patience{number_in(call.arguments, "timeout_s", 10)};
  const Ticks deadline = call.began + std::min(patience, kLongestCall);
  const auto since = static_cast<std::uint64_t>(
      number_in(call.arguments, "since", static_cast<std::int64_t>(job->told)));
  // Its sandbox may take a moment to stand.
  const bool acts = action == "write" || action == "signal";
  while (acts && !job->has_begun() && !job->is_over &&
         std::chrono::steady_clock::now() < deadline) {
    co_await job->news.wait(deadline);
  }
  if (acts && (job->is_over || !job->has_begun())) {
    co_return failed(fmt::format("cordon: process {} does not run", name));
  }
  if (action == "write") {
    const Status written = co_await job->process->write(text_in(call.arguments, "data"),
                                                        flag_in(call.arguments, "eof"));
    if (!written) co_return failed(fmt::format("cordon: {}", written.error().text()));
  } else if (action == "signal") {
    job->process->signal(number_of(text_in(call.arguments, "signal")), frame::SignalTo::group);
  }
  const bool wants_output = action == "read";
  call.when_cancelled = [job] { job->news.tell(); };
  while (!job->is_over && !call.is_cancelled && (action == "wait" || wants_output) &&
         !(wants_output && job->both.end() > since) &&
         std::chrono::steady_clock::now() < deadline) {
    co_await job->news.wait(deadline);
  }
  call.when_cancelled = {};
  const auto most = static_cast<std::size_t>(number_in(call.arguments, "max_output", 20'000));
  json::object structured{{"running", !job->is_over},
                          {"exit_code", or_null(job->exit_code)},
                          {"signal", signal_or_null(job->signal)},
                          {"ended_by", text_or_null(job->ended_by)}};
  for (auto& [key, value] : output_of(*job, since, most)) structured[key] = std::move(value);
  const std::vector<Denial> denials = Jobs::take_denials(*job);
  structured["denials"] = to_json(denials);
  std::string text{structured["output"].as_string()};
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += job->is_over ? "it has ended\n" : "it runs\n";
  text += mcp::server::as_utf8(words_of(denials));
  co_return ToolResult{.structured = std::move(structured), .text = std::move(text)};
}

ToolAnswer Tools::read_output(const Call& call) const {
  const auto place = [&](std::string_view key, std::int64_t otherwise) {
    return static_cast<std::size_t>(number_in(call.arguments, key, otherwise));
  };
  std::optional<std::string> grep;
  if (call.arguments.contains("grep")) grep = text_in(call.arguments, "grep");
  const auto part = outputs_.read(text_in(call.arguments, "output_id"), place("offset", 0),
                                  place("limit", 20'000), grep);
  if (!part) return failed(fmt::format("cordon: {}", part.error().text()));
  return ToolResult{
      .structured = {{"text", part->text}, {"next", or_null(part->next)}, {"size", part->size}},
      .text = part->text};
}

asio::awaitable<ToolAnswer> Tools::answer(Call& call) {
  if (call.tool == "run") co_return co_await run(call);
  if (call.tool == "run_code") co_return co_await run_code(call);
  if (call.tool == "process") co_return co_await process(call);
  if (call.tool == "read_output") co_return read_output(call);
  if (call.tool == "diff") co_return co_await diff(call);
  if (call.tool == "apply") co_return co_await apply(call);
  if (call.tool == "explain") co_return co_await explain(call);
  co_return co_await request_access(call);
}

}  // namespace cordon::cli
