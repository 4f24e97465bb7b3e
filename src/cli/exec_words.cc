// SPDX-License-Identifier: Apache-2.0
#include "cli/exec_words.h"

#include <cerrno>
#include <csignal>
#include <system_error>

#include <boost/json/object.hpp>

#include "cli/exit_code.h"
#include "cli/node_words.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

const json::value& member(const json::value& object, std::string_view name) {
  static const json::value kNone;
  const json::value* const found =
      object.is_object() ? object.get_object().if_contains(name) : nullptr;
  return found == nullptr ? kNone : *found;
}

}  // namespace

int code_of_exit(const json::value& process) {
  const json::value& exit = member(process, "exit");
  if (const auto signal = number_at(exit, "signal")) return kOfSignal + static_cast<int>(*signal);
  if (const auto code = number_at(exit, "code")) return static_cast<int>(*code);
  return static_cast<int>(Exit::not_started);
}

int code_of_failure(std::string_view failure) {
  constexpr int kNoProgram = 127;
  const std::string none = std::generic_category().message(ENOENT);
  return failure.ends_with(none) ? kNoProgram : static_cast<int>(Exit::refused);
}

SandboxEnd read_sandbox_end(const json::value& sandbox) {
  constexpr int kTimeIsOver = 124;
  constexpr int kKilled = 128 + SIGKILL;
  const json::value& verdict = member(sandbox, "verdict");
  const std::string ending = text_at(verdict, "ending");
  SandboxEnd end{.code = kKilled, .words = text_at(verdict, "explanation")};
  if (end.words.empty()) end.words = ending;
  if (ending == "wall_time" || ending == "cpu_time") end.code = kTimeIsOver;
  if (ending == "infrastructure" || ending.empty()) end.code = static_cast<int>(Exit::not_started);
  return end;
}

}  // namespace cordon::cli
