// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/interpreter.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "api/e2b/inner_path.h"
#include "wire/json_writer.h"

namespace cordon::api::e2b {
namespace {

struct EmbeddedText {
  std::string_view name;
  std::string_view text;
};
constexpr EmbeddedText kTexts[] = {
#include "api/e2b/interpreter_texts.inc"
};

constexpr std::string_view kJavaScript = "javascript";

// All parts of the supervisor, one behind the other.
const std::string& supervisor_text() {
  static const std::string text = [] {
    std::string all;
    for (const EmbeddedText& each : kTexts) {
      if (each.name != kJavaScript) all += each.text;
    }
    return all;
  }();
  return text;
}

std::string_view javascript_text() {
  return std::ranges::find(kTexts, kJavaScript, &EmbeddedText::name)->text;
}

constexpr std::size_t kHeard = std::size_t{64} << 10U;
// Of events that a client has not taken: then the sandbox waits for it.
constexpr std::size_t kMostEvents = std::size_t{1} << 20U;
// Of an answer in one piece: a list of contexts is the longest.
constexpr std::size_t kLongestAnswer = std::size_t{64} << 10U;
// Of what a supervisor has not read: one that is stopped, as any process inside can be, is told no
// more.
constexpr std::size_t kMostUnsaid = std::size_t{4} << 20U;

std::vector<std::string> arguments() { return {"python3", "-c", supervisor_text()}; }

// The first line to a supervisor: what contexts begin with.
std::string setup_line(const node::Resident& resident) {
  wire::JsonWriter json;
  json.begin_object();
  json.text("op", "setup");
  json.text("javascript", javascript_text());
  json.text("cwd", kHome);
  json.key("env");
  json.begin_object();
  for (const std::string& variable : resident.lowered().environment) {
    const std::size_t equals = variable.find('=');
    json.text(variable.substr(0, equals), variable.substr(equals + 1));
  }
  json.text("E2B_SANDBOX", "true");
  json.text("E2B_SANDBOX_ID", resident.facts().id.text());
  json.end_object();
  json.end_object();
  return json.take();
}

// "404 why"
InterpreterRefusal refusal_of(std::string_view text) {
  int status = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), status);
  if (error != std::errc{} || status < 400 || status > 599) return {500, std::string{text}};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return {status, std::string{text}};
}

// Why there is no supervisor any more.
InterpreterRefusal end_of(const node::ResidentProcess& process) {
  if (process.failed()) {
    return {501,
            fmt::format("code is run by python3 inside, which did not start ({}): use an image "
                        "that has it, and python3-ipython for rich results",
                        process.failure())};
  }
  return {500,
          "the supervisor of the sandbox's code has ended; what contexts held is lost, and the "
          "next request begins anew"};
}

}  // namespace

std::string Asked::take_events() {
  tell();
  return std::exchange(events_, {});
}

asio::awaitable<void> Asked::news() { co_await news_.async_wait(async::kQuiet); }

Interpreter::Interpreter(const asio::any_io_executor& executor,
                         std::shared_ptr<node::Resident> resident,
                         std::shared_ptr<node::ResidentProcess> process)
    : executor_{executor},
      resident_{std::move(resident)},
      process_{std::move(process)},
      something_to_say_{executor, async::kNever} {
  static_cast<void>(say(setup_line(*resident_)));
}

bool Interpreter::say(std::string_view line) {
  if (to_say_.size() + line.size() > kMostUnsaid) return false;
  to_say_ += line;
  to_say_ += '\n';
  something_to_say_.cancel();
  return true;
}

asio::awaitable<void> Interpreter::speak() {
  while (!is_over_) {
    if (to_say_.empty()) {
      co_await something_to_say_.async_wait(async::kQuiet);
    } else if (!co_await process_->write(std::exchange(to_say_, {}), false)) {
      co_return;  // it has ended, which hear() tells
    }
  }
}

asio::awaitable<void> Interpreter::hear() {
  node::Offsets at = process_->held_from();
  for (;;) {
    while (const auto piece = process_->read(at, kHeard)) {
      const std::string bytes{piece->bytes};
      const bool is_answer = piece->stream == frame::Stream::out;
      at[is_answer ? 0 : 1] = piece->offset + bytes.size();
      if (is_answer) {
        lines_.push(bytes);
        while (const auto part = lines_.next()) {
          take(*part);
          co_await room_for(part->number);
        }
      }
      static_cast<void>(process_->acknowledge(at));
    }
    if (process_->is_over() || process_->exited()) break;
    co_await process_->news();
  }
  lose_all();
}

void Interpreter::take(const InterpreterLines::Piece& piece) {
  const auto found = asked_.find(piece.number);
  if (found == asked_.end()) return;
  Asked& asked = *found->second;
  if (piece.kind == InterpreterLines::Kind::event) {
    asked.events_ += piece.text;
    if (piece.ends_the_line) asked.events_ += '\n';
  } else {
    if (asked.last_.size() + piece.text.size() <= kLongestAnswer) asked.last_ += piece.text;
    if (!piece.ends_the_line) return;
    if (piece.kind == InterpreterLines::Kind::done) {
      asked.done_ = std::move(asked.last_);
    } else {
      asked.refused_ = refusal_of(asked.last_);
    }
  }
  asked.tell();
}

asio::awaitable<void> Interpreter::room_for(std::uint32_t number) {
  for (;;) {
    const auto found = asked_.find(number);
    if (found == asked_.end() || found->second->events_.size() < kMostEvents) co_return;
    const std::shared_ptr<Asked> asked = found->second;
    co_await asked->news();
  }
}

void Interpreter::lose_all() {
  is_over_ = true;
  something_to_say_.cancel();
  for (const auto& [number, asked] : asked_) {
    if (!asked->is_over()) asked->refused_ = end_of(*process_);
    asked->tell();
  }
}

Interpreter::Question::Question(std::shared_ptr<Interpreter> interpreter, std::string_view act,
                                std::string fields)
    : interpreter_{std::move(interpreter)},
      number_{++interpreter_->last_number_},
      asked_{std::make_shared<Asked>(interpreter_->executor_)} {
  interpreter_->asked_.emplace(number_, asked_);
  if (!interpreter_->say(fmt::format(R"({{"op":"{}","id":{}{}}})", act, number_, fields))) {
    asked_->refused_ = InterpreterRefusal{
        503,
        "the supervisor of the sandbox's code does not read what it is asked; end what stops "
        "it, or the sandbox"};
  }
}

Interpreter::Question::~Question() {
  interpreter_->asked_.erase(number_);
  asked_->tell();
  if (asked_->is_over() || interpreter_->is_over_) return;
  // Where it does not read it runs nothing either.
  static_cast<void>(interpreter_->say(fmt::format(R"({{"op":"interrupt","id":{}}})", number_)));
}

// The variables of the request come with the first word to it: so that those who ask for other ones
// may have the same sandbox.
frame::Start supervisor_standby() {
  return {.process = frame::kStandby,
          .arguments = arguments(),
          .environment = {"HOME=/home/user", "LANG=C.UTF-8", "LOGNAME=user", "USER=user",
                          "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
          .directory = "/",
          .terminal = {},
          .input = true,
          .as_root = false};
}

sandbox::Command supervisor_command(const plan::Lowered& lowered) {
  return {.arguments = arguments(),
          .environment = lowered.environment,
          .directory = "/",
          .terminal = {},
          .input = true,
          .as_root = false,
          .acknowledging = sandbox::Acknowledging::by_caller};
}

}  // namespace cordon::api::e2b
