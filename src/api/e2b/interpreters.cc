// SPDX-License-Identifier: Apache-2.0
// Code that is run in contexts which keep what they have computed: the service of port 49999.
#include <array>

#include <fmt/format.h>

#include "api/e2b/face.h"
#include "api/e2b/message.h"
#include "async/deadline.h"

namespace cordon::api::e2b {
namespace {

using token::Operation;

constexpr std::size_t kLargestCode = std::size_t{1} << 20U;
constexpr std::chrono::seconds kCodeKeepalive{5};
// For a context to be made, or to end.
constexpr std::chrono::seconds kCodePatience{60};

struct CodeRoute {
  Route route;
  async::Task<void> (Face::*handler)(Call&, Face::Inside);
};
constexpr std::array kCodeRoutes = {
    CodeRoute{{"POST", "/execute", Operation::process_start}, &Face::run_code},
    CodeRoute{{"POST", "/contexts", Operation::process_start}, &Face::create_context},
    CodeRoute{{"GET", "/contexts", Operation::process_read}, &Face::list_contexts},
    CodeRoute{{"POST", "/contexts/{id}/restart", Operation::process_start}, &Face::restart_context},
    CodeRoute{{"DELETE", "/contexts/{id}", Operation::process_signal}, &Face::remove_context},
};

// Its clients show the text of an answer that is not what they asked for.
async::Task<void> answer_text(Call& call, int status, std::string text) {
  return call.exchange.answer(status, stream_fields(call, "text/plain; charset=utf-8"),
                              std::move(text));
}

// The last fields of a line to the supervisor, each behind a comma.
class LineFields {
 public:
  void add(std::string_view name, const std::optional<std::string>& value) {
    if (value) write([&](wire::JsonWriter& json) { json.text(name, *value); });
  }
  void add(std::string_view name, const std::map<std::string, std::string>& values) {
    write([&](wire::JsonWriter& json) {
      json.key(name);
      json.begin_object();
      for (const auto& [key, value] : values) json.text(key, value);
      json.end_object();
    });
  }
  std::string take() { return std::move(text_); }

 private:
  void write(auto act) {
    wire::JsonWriter json;
    json.begin_object();
    act(json);
    json.end_object();
    const std::string object = json.take();
    text_ += ',' + object.substr(1, object.size() - 2);
  }
  std::string text_;
};

Result<std::string> execute_fields(const Message& message) {
  TRY(const auto code, message.text("code"));
  if (!code) return Error{Errc::invalid, "`code` is missing"};
  TRY(const auto context, message.text("context_id"));
  TRY(const auto language, message.text("language"));
  if (context && language) {
    return Error{Errc::invalid,
                 "`context_id` and `language`: one of them, since a context has one"};
  }
  TRY(const auto variables, message.texts_by_name("env_vars"));
  LineFields fields;
  fields.add("code", code);
  fields.add("context", context);
  fields.add("language", language);
  fields.add("env", variables);
  return fields.take();
}

async::Task<void> news_of(Asked* asked) {
  co_await asked->news();
  co_return Status{};
}

// Sends what comes, line by line, until the code has ended.
async::Task<void> send_events(Call& call, Asked& asked) {
  bool is_between_lines = true;
  for (;;) {
    const std::string events = asked.take_events();
    if (!events.empty()) {
      is_between_lines = events.back() == '\n';
      CO_TRY_DO(co_await call.exchange.write(events));
      continue;
    }
    if (asked.is_over()) break;
    const bool is_silent = !co_await async::within(kCodeKeepalive, news_of(&asked));
    if (is_silent && is_between_lines) {
      CO_TRY_DO(co_await call.exchange.write("{\"type\":\"keepalive\"}\n"));
    }
  }
  co_return Status{};
}

async::Task<void> until_over(Asked* asked) {
  while (!asked->is_over()) co_await asked->news();
  co_return Status{};
}

// The one that it began with, or another.
Result<std::shared_ptr<node::ResidentProcess>> supervisor_in(node::Resident& resident) {
  if (resident.lowered().plan.setup.standby) {
    auto standby = resident.process(frame::kStandby);
    if (standby && !standby->exited() && !standby->is_over()) return standby;
  }
  return resident.start(supervisor_command(resident.lowered()));
}

asio::awaitable<void> hear(std::shared_ptr<Interpreter> interpreter) {
  co_await interpreter->hear();
}
asio::awaitable<void> speak(std::shared_ptr<Interpreter> interpreter) {
  co_await interpreter->speak();
}

}  // namespace

Result<std::shared_ptr<Interpreter>> Face::interpreter_of(const Inside& inside) {
  std::erase_if(interpreters_, [](const auto& each) { return each.second->is_over(); });
  const std::string id = inside->facts().id.text();
  if (const auto found = interpreters_.find(id); found != interpreters_.end()) return found->second;
  TRY(auto process, supervisor_in(*inside));
  auto made = std::make_shared<Interpreter>(executor_, inside, std::move(process));
  interpreters_.emplace(id, made);
  scope_->spawn(hear(made));
  scope_->spawn(speak(made));
  return made;
}

async::Task<void> Face::serve_interpreter(Call& call, Inside inside) {
  const http::RequestHead& head = call.exchange.head();
  if (head.method == "GET" && head.target.path == "/health") {
    co_return co_await answer_text(call, 200, "OK");
  }
  if (!shows_traffic_token(call, *inside)) co_return co_await answer_without_traffic_token(call);
  call.tenant = inside->facts().tenant;
  CO_TRY(auto counted, parts_.quotas.begin_request(call.tenant));
  for (const CodeRoute& each : kCodeRoutes) {
    std::vector<std::string> places;
    if (each.route.method != head.method || !fits(each.route.pattern, head.target.path, places)) {
      continue;
    }
    call.places = {inside->facts().id.text()};
    call.places.insert(call.places.end(), places.begin(), places.end());
    call.route = &each.route;
    CO_TRY_DO(record_.begun(call));
    const Status done = co_await (this->*each.handler)(call, inside);
    if (done || call.exchange.is_answered() || call.exchange.has_faulty_body()) co_return done;
    const wire::ProblemAnswer problem = wire::problem_of(done.error());
    co_return co_await answer_text(call, problem.status == 422 ? 400 : problem.status,
                                   problem.detail);
  }
  co_return co_await answer_text(call, 404, "this node does not have this call; see docs/e2b.md");
}

async::Task<void> Face::run_code(Call& call, Inside inside) {
  CO_TRY(const std::string body, co_await call.exchange.read_body(kLargestCode));
  CO_TRY(const Message message, Message::read(body));
  CO_TRY(std::string fields, execute_fields(message));
  CO_TRY(auto interpreter, interpreter_of(inside));
  Interpreter::Question question{std::move(interpreter), "execute", std::move(fields)};
  Asked& asked = question.asked();
  // A refusal has a status of its own: so the answer begins with the first word.
  if (!asked.is_over()) {
    static_cast<void>(co_await async::within(kCodeKeepalive, news_of(&asked)));
  }
  if (const auto& refused = asked.refused()) {
    co_return co_await answer_text(call, refused->status, refused->text);
  }
  CO_TRY_DO(co_await call.exchange.begin(200, stream_fields(call, "application/x-ndjson")));
  CO_TRY_DO(co_await send_events(call, asked));
  if (asked.refused()) {
    // Its client knows no other way to be told.
    call.exchange.break_off();
    co_return Error{Errc::unavailable, asked.refused()->text};
  }
  co_return co_await call.exchange.finish();
}

async::Task<void> Face::ask_interpreter(Call& call, Inside inside, std::string_view act,
                                        std::string fields) {
  CO_TRY(auto interpreter, interpreter_of(inside));
  Interpreter::Question question{std::move(interpreter), act, std::move(fields)};
  Asked& asked = question.asked();
  CO_TRY_DO(co_await async::within(kCodePatience, until_over(&asked)));
  if (const auto& refused = asked.refused()) {
    co_return co_await answer_text(call, refused->status, refused->text);
  }
  co_return co_await answer_json(call, 200, asked.done().value_or("{}"));
}

async::Task<void> Face::create_context(Call& call, Inside inside) {
  CO_TRY(const std::string body, co_await call.exchange.read_body(kLargestCode));
  CO_TRY(const Message message, Message::read(body));
  CO_TRY(const auto language, message.text("language"));
  CO_TRY(const auto directory, message.text("cwd"));
  LineFields fields;
  fields.add("language", language);
  fields.add("cwd", directory);
  co_return co_await ask_interpreter(call, inside, "create", fields.take());
}

async::Task<void> Face::list_contexts(Call& call, Inside inside) {
  return ask_interpreter(call, std::move(inside), "list", {});
}

async::Task<void> Face::restart_context(Call& call, Inside inside) {
  CO_TRY_DO(co_await call.exchange.read_body(kLargestCode));
  LineFields fields;
  fields.add("context", call.places.back());
  co_return co_await ask_interpreter(call, inside, "restart", fields.take());
}

async::Task<void> Face::remove_context(Call& call, Inside inside) {
  LineFields fields;
  fields.add("context", call.places.back());
  co_return co_await ask_interpreter(call, inside, "remove", fields.take());
}

}  // namespace cordon::api::e2b
