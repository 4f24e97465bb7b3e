// SPDX-License-Identifier: Apache-2.0
#include "cli/node_words.h"

#include <algorithm>
#include <charconv>
#include <ostream>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "cli/run_words.h"
#include "cli/token_verbs.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

const json::value* find(const json::value& object, std::string_view name) {
  return object.is_object() ? object.get_object().if_contains(name) : nullptr;
}

Denial denial_of(const json::value& value) {
  return {.code = text_at(value, "code"),
          .tried = text_at(value, "tried"),
          .resolved = {},
          .rule = text_at(value, "rule"),
          .why = text_at(value, "why"),
          .fix = text_at(value, "fix"),
          .action = text_at(value, "action")};
}

Errc errc_of(int status) {
  switch (status) {
    case 404:
      return Errc::not_found;
    case 408:
    case 429:
    case 502:
    case 503:
    case 504:
      return Errc::unavailable;
    default:
      return status >= 400 && status < 500 ? Errc::denied : Errc::internal;
  }
}

std::string labels_of(const json::value& sandbox) {
  std::string text;
  const json::value* const labels = find(sandbox, "labels");
  if (labels == nullptr || !labels->is_object()) return text;
  for (const auto& label : labels->get_object()) {
    if (!text.empty()) text += ' ';
    text += std::string_view{label.key()};
    text += '=';
    if (label.value().is_string()) text += std::string_view{label.value().get_string()};
  }
  return text;
}

std::string distance_of(const json::value& sandbox, std::string_view name,
                        std::chrono::sys_seconds now) {
  const auto time = read_time(text_at(sandbox, name));
  return time ? distance_words(*time, now) : "";
}

std::string number_text(const json::value& value, std::string_view name) {
  const auto number = number_at(value, name);
  return number ? std::to_string(*number) : "-";
}

std::string end_of(const json::value& process) {
  const json::value* const exit = find(process, "exit");
  if (exit == nullptr) return text_at(process, "failure");
  if (const auto number = number_at(*exit, "signal")) return fmt::format("signal {}", *number);
  return fmt::format("exit {}", number_text(*exit, "code"));
}

}  // namespace

std::string text_at(const json::value& object, std::string_view name) {
  const json::value* const found = find(object, name);
  return found != nullptr && found->is_string() ? std::string{found->get_string()} : std::string{};
}

std::optional<std::uint64_t> number_at(const json::value& object, std::string_view name) {
  const json::value* const found = find(object, name);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  boost::system::error_code error;
  const auto number = found->to_number<std::uint64_t>(error);
  return error ? std::nullopt : std::optional{number};
}

const json::array& list_at(const json::value& object, std::string_view name) {
  static const json::array kNone;
  const json::value* const found = find(object, name);
  return found != nullptr && found->is_array() ? found->get_array() : kNone;
}

std::string words_of_refusal(const NodeAnswer& answer) {
  const std::string detail = text_at(answer.json, "detail");
  if (detail.empty()) {
    return fmt::format(
        "cordon: what answered there speaks no API v1 (status {})\n  next  see --node: is that the "
        "socket of cordond?\n",
        answer.status);
  }
  std::string text = fmt::format("cordon: {}   {}\n", terminal::printable(detail),
                                 terminal::printable(text_at(answer.json, "code")));
  for (const json::value& problem : list_at(answer.json, "problems")) {
    text += fmt::format("  at    {}  {}\n", terminal::printable(text_at(problem, "where")),
                        terminal::printable(text_at(problem, "message")));
  }
  if (const std::string remedy = text_at(answer.json, "remedy"); !remedy.empty()) {
    text += fmt::format("  next  {}\n", terminal::printable(remedy));
  }
  if (answer.status == 401) text += "  how   --token-file FILE, or the variable CORDON_TOKEN\n";
  for (const json::value& denial : list_at(answer.json, "denials")) {
    text += words_of(denial_of(denial));
  }
  return text;
}

Exit exit_of_status(int status) noexcept { return exit_of(errc_of(status)); }

Exit start_exit_of_status(int status) noexcept {
  return errc_of(status) == Errc::denied ? Exit::refused : Exit::not_started;
}

std::optional<NodeAnswer> ask_or_tell(const NodeOptions& options, NodeRequest request,
                                      Context& context) {
  const auto node = find_node(options, context);
  if (!node) {
    fail(context, node.error());
    return std::nullopt;
  }
  auto answer = ask_now(*node, std::move(request));
  if (!answer) {
    fail(context, answer.error());
    return std::nullopt;
  }
  if (!answer->is_good()) {
    refuse(context, options, *answer);
    return std::nullopt;
  }
  return *std::move(answer);
}

void refuse(Context& context, const NodeOptions& options, const NodeAnswer& answer) {
  context.err << words_of_refusal(answer);
  if (options.json && !answer.json.is_null()) context.out << answer.body << '\n';
  context.exit = exit_of_status(answer.status);
}

std::string table_text(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += fmt::format("{:<{}}   ", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string sandboxes_text(const json::array& sandboxes, std::chrono::sys_seconds now) {
  std::vector<Row> rows{{"SANDBOX", "TENANT", "STATE", "CREATED", "EXPIRES", "LABELS"}};
  for (const json::value& each : sandboxes) {
    rows.push_back({terminal::printable(text_at(each, "id")),
                    terminal::printable(text_at(each, "tenant")),
                    terminal::printable(text_at(each, "state")), distance_of(each, "created", now),
                    distance_of(each, "expires", now), terminal::printable(labels_of(each))});
  }
  return table_text(rows);
}

std::string processes_text(const json::array& processes) {
  std::vector<Row> rows{{"PROCESS", "PID", "STATE", "END", "STDOUT", "STDERR", "COMMAND"}};
  for (const json::value& each : processes) {
    rows.push_back({number_text(each, "process"), number_text(each, "pid"),
                    terminal::printable(text_at(each, "state")), terminal::printable(end_of(each)),
                    number_text(each, "stdout_bytes"), number_text(each, "stderr_bytes"),
                    terminal::printable(text_at(each, "command"))});
  }
  return table_text(rows);
}

std::optional<std::chrono::sys_seconds> read_time(std::string_view text) {
  // The places of its numbers; the rest stands between them.
  constexpr std::string_view kForm = "0000-00-00T00:00:00";
  if (text.size() < kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == '0' ? !is_digit : text[i] != kForm[i]) return std::nullopt;
  }
  const auto at = [&](std::size_t begin, std::size_t size) {
    int value = 0;
    std::from_chars(text.data() + begin, text.data() + begin + size, value);
    return value;
  };
  const std::chrono::year_month_day day{std::chrono::year{at(0, 4)},
                                        std::chrono::month{static_cast<unsigned>(at(5, 2))},
                                        std::chrono::day{static_cast<unsigned>(at(8, 2))}};
  if (!day.ok()) return std::nullopt;
  return std::chrono::sys_days{day} + std::chrono::hours{at(11, 2)} +
         std::chrono::minutes{at(14, 2)} + std::chrono::seconds{at(17, 2)};
}

}  // namespace cordon::cli
