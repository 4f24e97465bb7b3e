// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/process_message.h"

#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "base/base64.h"
#include "wire/requests.h"

namespace cordon::api::e2b {
namespace {

Result<std::uint16_t> side_of(const Message& size, std::string_view name, std::uint16_t usual) {
  TRY(const auto side, size.number(name));
  if (!side) return usual;
  if (*side < 1 || *side > wire::kMostTerminalSide) {
    return Error{Errc::invalid, fmt::format("`{}` is from 1 to {}", name, wire::kMostTerminalSide)};
  }
  return static_cast<std::uint16_t>(*side);
}

std::string event(std::string_view kind, std::string_view json) {
  return fmt::format(R"({{"event":{{"{}":{}}}}})", kind, json);
}

// As the libraries of clients print it.
std::string_view signal_words(std::uint32_t number) {
  switch (number) {
    case SIGKILL:
      return "killed";
    case SIGTERM:
      return "terminated";
    case SIGINT:
      return "interrupt";
    case SIGSEGV:
      return "segmentation fault";
    case SIGABRT:
      return "aborted";
    default:
      return {};
  }
}

bool has_zero(std::string_view text) { return text.find('\0') != std::string_view::npos; }

Status check(const ProcessConfig& config) {
  if (config.command.empty()) return Error{Errc::invalid, "`process.cmd` is missing"};
  if (config.arguments.size() >= wire::kMostArguments) {
    return Error{Errc::invalid, fmt::format("more than {} arguments", wire::kMostArguments)};
  }
  bool is_plain = !has_zero(config.command) && !has_zero(config.directory);
  for (const std::string& each : config.arguments) is_plain = is_plain && !has_zero(each);
  for (const auto& [name, value] : config.variables) {
    is_plain = is_plain && !name.empty() && !has_zero(name) && !has_zero(value) &&
               name.find('=') == std::string::npos;
  }
  if (!is_plain) return Error{Errc::invalid, "a zero byte, or a variable without a plain name"};
  if (config.variables.size() > wire::kMostVariables) {
    return Error{Errc::invalid, fmt::format("more than {} variables", wire::kMostVariables)};
  }
  return {};
}

}  // namespace

Result<std::optional<TerminalWanted>> read_terminal(const Message& message) {
  TRY(const auto pty, message.object("pty"));
  if (!pty) return std::optional<TerminalWanted>{};
  TerminalWanted wanted;
  TRY(const auto size, pty->object("size"));
  if (!size) return std::optional{wanted};
  TRY(wanted.columns, side_of(*size, "cols", wanted.columns));
  TRY(wanted.rows, side_of(*size, "rows", wanted.rows));
  return std::optional{wanted};
}

Result<StartMessage> read_start(std::string_view json) {
  TRY(const Message message, Message::read(json));
  TRY(const auto process, message.object("process"));
  if (!process) return Error{Errc::invalid, "`process` is missing"};
  StartMessage start;
  TRY(const auto command, process->text("cmd"));
  start.config.command = command.value_or("");
  TRY(start.config.arguments, process->texts("args"));
  TRY(start.config.variables, process->texts_by_name("envs"));
  TRY(const auto directory, process->text("cwd"));
  start.config.directory = directory.value_or("");
  TRY_DO(check(start.config));
  TRY(start.terminal, read_terminal(message));
  TRY(const auto tag, message.text("tag"));
  start.tag = tag.value_or("");
  TRY(const auto input, message.boolean("stdin"));
  start.has_input = input.value_or(true);
  return start;
}

Result<Selector> read_selector(const Message& message) {
  TRY(const auto process, message.object("process"));
  if (!process) return Error{Errc::invalid, "`process` is missing"};
  TRY(const auto tag, process->text("tag"));
  if (tag) return Selector{*tag};
  TRY(const auto pid, process->number("pid"));
  if (!pid || *pid < 0 || *pid > INT32_MAX) {
    return Error{Errc::invalid, "`process` has neither a pid nor a tag"};
  }
  return Selector{static_cast<std::uint32_t>(*pid)};
}

Result<int> read_signal(const Message& message) {
  const auto name = message.text("signal");
  if (name && *name == "SIGNAL_SIGKILL") return SIGKILL;
  if (name && *name == "SIGNAL_SIGTERM") return SIGTERM;
  const auto sent = message.number("signal");
  const std::int64_t number = sent ? sent->value_or(0) : 0;
  if (number == SIGKILL || number == SIGTERM) return static_cast<int>(number);
  return Error{Errc::invalid, "`signal` is SIGNAL_SIGTERM or SIGNAL_SIGKILL"};
}

std::string start_event(std::uint32_t pid) {
  return event("start", fmt::format(R"({{"pid":{}}})", pid));
}

std::string keepalive_event() { return event("keepalive", "{}"); }

std::string data_event(std::string_view stream, std::string_view bytes) {
  return event("data", fmt::format(R"({{"{}":"{}"}})", stream, to_base64(bytes)));
}

std::string end_event(const ProcessEnd& end) {
  if (!end.by_signal && end.value == 0) {
    return event("end", R"({"exitCode":0,"exited":true,"status":"exit status 0"})");
  }
  if (!end.by_signal) {
    return event("end", fmt::format(R"({{"exitCode":{0},"exited":true,"status":"exit status {0}",)"
                                    R"("error":"exit status {0}"}})",
                                    end.value));
  }
  const std::string_view known = signal_words(end.value);
  const std::string words =
      known.empty() ? fmt::format("signal {}", end.value) : std::string{known};
  return event("end", fmt::format(R"({{"exitCode":-1,"exited":false,"status":"signal: {0}",)"
                                  R"("error":"signal: {0}"}})",
                                  words));
}

std::string to_json(const std::vector<ListedProcess>& processes) {
  wire::JsonWriter json;
  json.begin_object();
  json.key("processes");
  json.begin_array();
  for (const ListedProcess& each : processes) {
    json.begin_object();
    json.key("config");
    json.begin_object();
    json.text("cmd", each.config.command);
    json.key("args");
    json.begin_array();
    for (const std::string& argument : each.config.arguments) json.text(argument);
    json.end_array();
    json.key("envs");
    json.begin_object();
    for (const auto& [name, value] : each.config.variables) json.text(name, value);
    json.end_object();
    if (!each.config.directory.empty()) json.text("cwd", each.config.directory);
    json.end_object();
    json.number("pid", std::uint64_t{each.pid});
    if (!each.tag.empty()) json.text("tag", each.tag);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace cordon::api::e2b
