// SPDX-License-Identifier: Apache-2.0
#include "wire/requests.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "policy/keys.h"
#include "policy/parse.h"
#include "policy/section.h"
#include "policy/shape.h"
#include "policy/text.h"
#include "policy/value.h"
#include "wire/signal_name.h"

namespace cordon::wire {
namespace {

using policy::Key;
using policy::Kind;
using policy::Problems;
using policy::Section;
using policy::Value;

constexpr const char* kName = "request";  // in messages, where a file would stand

// `command`, `input` and `policy` have rules of their own.
constexpr std::array kCommandKeys = {
    Key{"command", Kind::any, "program and arguments"},
    Key{"environment", Kind::texts_by_name, "variables, beside what the policy sets"},
    Key{"directory", Kind::text, "where it starts"},
    Key{"input", Kind::any, "all of standard input"},
};
constexpr std::array kCreateKeys = {
    Key{"policy", Kind::any, "a policy document"},
    Key{"labels", Kind::texts_by_name, "the caller's own words"},
    Key{"timeout_seconds", Kind::integer, "life of the sandbox", {}, 1, kLongestLife},
};
constexpr std::array kTerminalKeys = {
    Key{"pty", Kind::table, "a terminal, in place of three streams"},
    Key{"pty.rows", Kind::integer, "lines", {}, 1, kMostTerminalSide},
    Key{"pty.cols", Kind::integer, "characters in a line", {}, 1, kMostTerminalSide},
};

template <std::size_t A, std::size_t B>
constexpr std::array<Key, A + B> joined(const std::array<Key, A>& first,
                                        const std::array<Key, B>& second) {
  std::array<Key, A + B> both{};
  std::ranges::copy(second, std::ranges::copy(first, both.begin()).out);
  return both;
}
constexpr auto kStartKeys = joined(kCommandKeys, kTerminalKeys);
// A run is collected when it is over: nobody sits at a terminal.
constexpr auto kRunKeys = joined(kCommandKeys, kCreateKeys);

constexpr std::array kChangeKeys = {
    Key{"labels", Kind::texts_by_name, "the caller's own words, in place of those before"},
    Key{"timeout_seconds", Kind::integer, "life of the sandbox, from now", {}, 1, kLongestLife},
    Key{"policy", Kind::any, "a policy document that it is narrowed by"},
};
constexpr std::array kRevokeKeys = {
    Key{"token", Kind::text, "the token that is taken back"},
};
constexpr std::array kSignalKeys = {
    Key{"signal", Kind::any, "a name or a number"},
    Key{"group", Kind::boolean, "also what it has started"},
};

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

void read_command(const Section& top, std::vector<std::string>& into) {
  const Value* const command = top.find("command");
  if (command == nullptr) {
    top.problems().add({1, 1}, "`command` is missing: a list of texts, the program first");
    return;
  }
  const bool is_list = command->list() != nullptr && !command->list()->empty();
  if (!is_list) {
    top.problem("command", fmt::format("`command`: expected a list of texts, the program first, "
                                       "found {}; write [\"sh\", \"-c\", \"…\"] for a shell's line",
                                       policy::noun_of(*command)));
    return;
  }
  if (command->list()->size() > kMostArguments) {
    top.problem("command", fmt::format("`command`: {} arguments, at most {} are taken",
                                       command->list()->size(), kMostArguments));
    return;
  }
  for (const Value& argument : *command->list()) {
    const std::string* const text = argument.text();
    if (text == nullptr || has_nul(*text) || text->size() > kLongestArgument ||
        (into.empty() && text->empty())) {
      top.problems().add(argument.mark,
                         fmt::format("`command`: an argument is a text of at most {} bytes without "
                                     "the character 0, and the program is not empty",
                                     kLongestArgument));
      return;
    }
    into.push_back(*text);
  }
}

bool is_variable(std::string_view name) {
  return !name.empty() && name.size() <= 256 &&
         std::ranges::all_of(name, [](char c) { return c > ' ' && c < 0x7F && c != '='; });
}

// Names and values, each within bounds.
template <class Fits>
void read_names(const Section& top, std::string_view key, std::size_t most, Fits fits,
                std::string_view rule, std::map<std::string, std::string>& into) {
  const auto& entries = top.section(key).entries();
  if (entries.size() > most) {
    top.problem(key,
                fmt::format("`{}`: {} of them, at most {} are taken", key, entries.size(), most));
    return;
  }
  for (const policy::Entry& entry : entries) {
    if (!fits(entry.key, *entry.value.text())) {
      top.problems().add(entry.mark,
                         fmt::format("`{}`: {}: {}", key, policy::in_quotes(entry.key), rule));
      continue;
    }
    into.emplace(entry.key, *entry.value.text());
  }
}

StartRequest read_start(const Section& top) {
  StartRequest start;
  read_command(top, start.command);
  read_names(
      top, "environment", kMostVariables,
      [](std::string_view name, std::string_view value) {
        return is_variable(name) && !has_nul(value) && value.size() <= kLongestArgument;
      },
      "a variable has a name without `=`, spaces and control characters, and a value without the "
      "character 0",
      start.environment);
  if (auto directory = top.text("directory")) {
    start.directory = std::move(directory->value);
    if (!start.directory.starts_with('/') || has_nul(start.directory)) {
      top.problem("directory", fmt::format("`directory`: {} is no absolute path",
                                           policy::in_quotes(start.directory)));
    }
  }
  if (const Value* const input = top.find("input")) {
    if (input->text() == nullptr) {
      top.problem("input",
                  fmt::format("`input`: expected a text, found {}", policy::noun_of(*input)));
    } else {
      start.input = *input->text();
    }
  }
  if (top.find("pty") != nullptr) {
    const Section pty = top.section("pty");
    const auto rows = pty.integer("rows");
    const auto columns = pty.integer("cols");
    start.terminal.emplace();
    if (rows) start.terminal->rows = static_cast<std::uint16_t>(rows->value);
    if (columns) start.terminal->columns = static_cast<std::uint16_t>(columns->value);
  }
  return start;
}

// A request has newlines in its arguments; a policy in it has none, as in a file.
void refuse_controls(const Value& value, Problems& problems) {
  if (const auto* text = value.text(); text != nullptr && policy::has_control_character(*text)) {
    problems.add(value.mark, "control characters are not allowed in a text");
  }
  if (value.list() != nullptr) {
    for (const Value& item : *value.list()) refuse_controls(item, problems);
  }
  if (value.table() == nullptr) return;
  for (const policy::Entry& entry : *value.table()) {
    if (policy::has_control_character(entry.key)) {
      problems.add(entry.mark, "control characters are not allowed in a key");
    }
    refuse_controls(entry.value, problems);
  }
}

void read_labels(const Section& top, std::map<std::string, std::string>& into) {
  read_names(
      top, "labels", kMostLabels,
      [](std::string_view name, std::string_view value) {
        return !name.empty() && name.size() <= kLongestLabel && value.size() <= kLongestLabel &&
               !policy::has_control_character(name) && !policy::has_control_character(value);
      },
      "a label has a name of 1 to 128 bytes and a value of at most 128, without control characters",
      into);
  std::size_t bytes = 0;
  for (const auto& [name, value] : into) bytes += name.size() + value.size();
  if (bytes > kMostLabelBytes) {
    top.problem("labels",
                fmt::format("`labels`: {} bytes of names and values, at most {} are taken", bytes,
                            kMostLabelBytes));
  }
}

policy::PolicyDocument read_policy(const Value& tree, Problems& problems) {
  Problems found{kName};
  refuse_controls(tree, found);
  auto document = policy::parse(tree, kName, found);
  problems.add_all(found);
  return document ? *std::move(document) : policy::PolicyDocument{};
}

CreateRequest read_create(const Section& top) {
  CreateRequest create;
  const Value empty{.data = Value::Table{}, .mark = {1, 1}};
  const Value* const stated = top.find("policy");
  create.policy = read_policy(stated != nullptr ? *stated : empty, top.problems());
  read_labels(top, create.labels);
  if (const auto life = top.integer("timeout_seconds")) create.timeout_seconds = life->value;
  return create;
}

Result<Value> read_tree(std::string_view text, std::span<const Key> keys, Problems& problems) {
  // Arguments and input have newlines; what must not is looked at one by one.
  TRY(Value tree, policy::read_json(text, problems, policy::Controls::kept));
  policy::check_shape(tree, problems, keys);
  if (!problems.empty()) return problems.to_error();
  return tree;
}

}  // namespace

Result<StartRequest> read_start_request(std::string_view text, Problems& problems) {
  TRY(const Value tree, read_tree(text, kStartKeys, problems));
  StartRequest start = read_start(Section{&tree, problems});
  if (!problems.empty()) return problems.to_error();
  return start;
}

Result<CreateRequest> read_create_request(std::string_view text, Problems& problems) {
  TRY(const Value tree, read_tree(text, kCreateKeys, problems));
  CreateRequest create = read_create(Section{&tree, problems});
  if (!problems.empty()) return problems.to_error();
  return create;
}

Result<RunRequest> read_run_request(std::string_view text, Problems& problems) {
  TRY(const Value tree, read_tree(text, kRunKeys, problems));
  const Section top{&tree, problems};
  RunRequest run{.create = read_create(top), .start = read_start(top)};
  if (!problems.empty()) return problems.to_error();
  return run;
}

Result<ChangeRequest> read_change_request(std::string_view text, Problems& problems) {
  TRY(const Value tree, read_tree(text, kChangeKeys, problems));
  const Section top{&tree, problems};
  ChangeRequest change;
  if (top.find("labels") != nullptr) read_labels(top, change.labels.emplace());
  if (const auto life = top.integer("timeout_seconds")) change.timeout_seconds = life->value;
  if (const Value* const by = top.find("policy")) change.policy = read_policy(*by, problems);
  if (!problems.empty()) return problems.to_error();
  return change;
}

Result<RevokeRequest> read_revoke_request(std::string_view text, Problems& problems) {
  TRY(const Value tree, read_tree(text, kRevokeKeys, problems));
  const Section top{&tree, problems};
  RevokeRequest request;
  if (auto token = top.text("token")) request.token = std::move(token->value);
  if (!problems.empty()) return problems.to_error();
  return request;
}

Result<SignalRequest> read_signal_request(std::string_view text, Problems& problems) {
  TRY(const Value tree, read_tree(text, kSignalKeys, problems));
  const Section top{&tree, problems};
  SignalRequest request{.number = signal_in(top)};
  if (const auto group = top.boolean("group")) request.to_group = group->value;
  if (!problems.empty()) return problems.to_error();
  return request;
}

}  // namespace cordon::wire
