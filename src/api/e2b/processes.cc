// SPDX-License-Identifier: Apache-2.0
// Processes of a sandbox: start, follow, list, feed, signal.
#include <charconv>

#include <fmt/format.h>

#include "api/e2b/face.h"
#include "api/e2b/inner_path.h"
#include "api/e2b/sandbox_request.h"
#include "async/deadline.h"
#include "node/inner_command.h"
#include "node/start_command.h"

namespace cordon::api::e2b {
namespace {

constexpr std::size_t kProcessesMessage = std::size_t{4} << 20U;
constexpr std::size_t kPiece = std::size_t{32} << 10U;
constexpr std::string_view kStreamType = "application/connect+json";
constexpr std::chrono::seconds kUsualKeepalive{90};
// How long the end of a process can be asked for.
constexpr std::chrono::seconds kKept{30};
// How long a create waits for what its template begins with: it goes on by itself then.
constexpr std::chrono::seconds kLongestReady{10};
constexpr std::chrono::milliseconds kBetweenTries{50};

std::optional<std::uint64_t> number_field(const Call& call, std::string_view name) {
  const auto text = http::only(call.exchange.head().fields, name);
  if (!text) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size()) return std::nullopt;
  return value;
}

// Nothing: it may take as long as it takes.
std::optional<std::chrono::milliseconds> limit_of(const Call& call) {
  const auto limit = number_field(call, "Connect-Timeout-Ms");
  constexpr std::uint64_t kMost = std::uint64_t{30} * 24 * 3600 * 1000;
  if (!limit || *limit == 0 || *limit > kMost) return std::nullopt;
  return std::chrono::milliseconds{*limit};
}

std::chrono::seconds keepalive_of(const Call& call) {
  const auto seconds = number_field(call, "Keepalive-Ping-Interval");
  if (!seconds || *seconds == 0 || *seconds > 3600) return kUsualKeepalive;
  return std::chrono::seconds{*seconds};
}

async::Task<std::string> message_of(Call& call) {
  CO_TRY(const std::string body, co_await call.exchange.read_body(kProcessesMessage));
  CO_TRY(const std::string_view message, only_message(body));
  co_return std::string{message};
}

// As which id a process runs changes what it calls home, and nothing else.
void make_root(wire::StartRequest& request) {
  request.environment.insert({{"HOME", "/root"}, {"LOGNAME", "root"}, {"USER", "root"}});
}

std::optional<std::string> label_of(const node::Resident& resident, std::string_view name) {
  const auto found = resident.facts().labels.find(std::string{name});
  if (found == resident.facts().labels.end()) return std::nullopt;
  return found->second;
}

// Whose a process is: who the call names, or the template's own user, or everybody's.
bool is_roots(const std::string& named, const node::Resident& resident) {
  return (named.empty() ? label_of(resident, kUserLabel).value_or("") : named) == kRoot;
}

wire::StartRequest start_request(const StartMessage& start, const node::Resident& resident) {
  wire::StartRequest request;
  request.command = start.config.arguments;
  request.command.insert(request.command.begin(), start.config.command);
  request.directory = start.config.directory.empty()
                          ? label_of(resident, kDirectoryLabel).value_or(std::string{kHome})
                          : start.config.directory;
  request.environment = {{"E2B_SANDBOX", "true"},
                         {"E2B_SANDBOX_ID", resident.facts().id.text()},
                         {"E2B_TEMPLATE_ID", template_of(resident.facts().labels)}};
  for (const auto& [name, value] : start.config.variables) {
    request.environment.insert_or_assign(name, value);
  }
  if (start.terminal) {
    request.terminal = {.rows = start.terminal->rows, .columns = start.terminal->columns};
  }
  return request;
}

Result<FollowedProcess> started_in(const Face::Inside& inside, StartMessage start, bool as_root) {
  if (!start.config.directory.empty()) {
    TRY(start.config.directory, inner_path(start.config.directory));
  }
  wire::StartRequest request = start_request(start, *inside);
  if (as_root) make_root(request);
  sandbox::Command command = node::command_of(std::move(request), inside->lowered());
  command.as_root = as_root;
  command.input = start.has_input;
  TRY(auto process, inside->start(std::move(command)));
  return FollowedProcess{inside, std::move(process), std::move(start.config), std::move(start.tag)};
}

// Why it never ran, to its client.
ConnectError not_started(const FollowedProcess& followed) {
  const auto& failed = followed.process->failed();
  const std::string& directory = followed.config.directory;
  if (failed && failed->step == "directory") {
    return {ConnectCode::invalid_argument,
            fmt::format("cwd '{}' does not exist", directory.empty() ? kHome : directory)};
  }
  if (failed) {
    return {ConnectCode::invalid_argument,
            fmt::format("{}: {}", followed.config.command, followed.process->failure())};
  }
  return {ConnectCode::unavailable, "the sandbox has ended"};
}

// What a command says that tells by its end alone.
class Unheard final : public node::OutputEar {
 public:
  async::Task<void> hear(frame::Stream /*stream*/, std::string /*bytes*/) override {
    co_return Status{};
  }
};

// Sends a reader what comes, until its end.
class ProcessStream {
 public:
  ProcessStream(Call& call, Reader& reader, std::chrono::seconds keepalive)
      : call_{call}, reader_{reader}, keepalive_{keepalive} {}

  async::Task<void> run() {
    CO_TRY_DO(co_await send(start_event(process().pid())));
    for (;;) {
      CO_TRY_DO(co_await send_what_is_there());
      if (reader_.followed().is_over()) break;
      const bool is_silent = !co_await async::within(keepalive_, news());
      if (is_silent) CO_TRY_DO(co_await send(keepalive_event()));
    }
    if (reader_.followed().is_late) {
      const ConnectError late{ConnectCode::deadline_exceeded, "the command has timed out"};
      co_return co_await call_.exchange.write(end_envelope(late));
    }
    const auto& exited = process().exited();
    // The sandbox has ended below it: whoever is told so by a connection that breaks asks why.
    if (!exited) {
      call_.exchange.break_off();
      co_return Error{Errc::unavailable, "the sandbox has ended"};
    }
    CO_TRY_DO(co_await send(end_event({exited->by_signal, exited->value})));
    co_return co_await call_.exchange.write(end_envelope());
  }

 private:
  node::ResidentProcess& process() { return *reader_.followed().process; }

  async::Task<void> send(std::string event) {
    const std::string framed = message_envelope(event);
    co_return co_await call_.exchange.write(framed);
  }

  async::Task<void> news() {
    co_await process().news();
    co_return Status{};
  }

  async::Task<void> send_what_is_there() {
    while (const auto piece = process().read(reader_.at(), kPiece)) {
      const bool is_error = piece->stream == frame::Stream::err;
      const std::string_view named = is_error ? "stderr" : "stdout";
      std::string event = data_event(process().has_terminal() ? "pty" : named, piece->bytes);
      const std::uint64_t next = piece->offset + piece->bytes.size();
      CO_TRY_DO(co_await send(std::move(event)));
      reader_.at()[is_error ? 1 : 0] = next;
      reader_.followed().settle();
    }
    co_return Status{};
  }

  Call& call_;
  Reader& reader_;
  std::chrono::seconds keepalive_;
};

async::Task<void> until_over(FollowedProcess* followed) {
  while (!followed->is_over()) {
    followed->settle();
    co_await followed->process->news();
  }
  co_return Status{};
}

// Beside its readers, until nobody can ask for it any more: its time is kept, and what nobody reads
// is let go.
asio::awaitable<void> keep(Followed followed, std::optional<std::chrono::milliseconds> limit,
                           FollowedProcesses& all) {
  if (limit) {
    const Status done = co_await async::within(*limit, until_over(followed.get()));
    if (!done && !followed->process->exited()) {
      followed->is_late = followed->was_signalled = true;
      followed->process->signal(SIGKILL, frame::SignalTo::group);
    }
  }
  static_cast<void>(co_await until_over(followed.get()));
  if (!followed->resident->is_ending()) {
    asio::steady_timer rest{co_await asio::this_coro::executor, kKept};
    co_await rest.async_wait(asio::use_awaitable);
  }
  all.remove(*followed);
}

Result<Followed> find_meant(const FollowedProcesses& all, const node::Resident& resident,
                            const Message& message) {
  TRY(const Selector selector, read_selector(message));
  return all.find(resident, selector);
}

}  // namespace

async::Task<void> Face::send_to(Reader& reader, Call& call,
                                std::optional<std::chrono::milliseconds> limit) {
  ProcessStream stream{call, reader, keepalive_of(call)};
  if (!limit) {
    CO_TRY_DO(co_await stream.run());
  } else if (const Status done = co_await async::within(*limit, stream.run()); !done) {
    if (done.error().code() != Errc::timeout) co_return done;
    const ConnectError late{ConnectCode::deadline_exceeded, "the connection's time is over"};
    co_return co_await end_with(call, late);
  }
  co_return co_await call.exchange.finish();
}

async::Task<void> Face::start_process(Call& call, Inside inside) {
  CO_TRY(const std::string message, co_await message_of(call));
  CO_TRY(const std::string user, named_user(call));
  CO_TRY_DO(co_await call.exchange.begin(200, stream_fields(call, kStreamType)));
  auto wanted = read_start(message);
  if (!wanted) co_return co_await end_with(call, connect_error(wanted.error()));
  auto started = started_in(inside, *std::move(wanted), is_roots(user, *inside));
  if (!started) co_return co_await end_with(call, connect_error(started.error()));
  const auto limit = limit_of(call);
  const Followed followed = followed_.add(*std::move(started));
  // Before anything can be let go that nobody has read.
  Reader reader{followed, node::Offsets{}};
  scope_->spawn(keep(followed, limit, followed_));
  while (followed->process->pid() == 0 && !followed->process->is_over()) {
    co_await followed->process->news();
  }
  if (followed->process->pid() == 0) co_return co_await end_with(call, not_started(*followed));
  // Its time is kept beside it: it is over for a client that has left, too.
  co_return co_await send_to(reader, call, std::nullopt);
}

async::Task<void> Face::begin_template(Inside inside, const image::Image& image) {
  const auto word = [](const std::vector<std::string>& words) {
    return words.empty() ? std::string{} : words.front();
  };
  const std::string start = word(image.config.command);
  const std::string ready = word(image.config.entrypoint);
  if (start.empty()) co_return Status{};
  const bool as_root = image.config.user == kRoot;
  const auto shell = [](const std::string& script) {
    StartMessage message;
    message.config.command = "/bin/bash";
    message.config.arguments = {"-l", "-c", script};
    message.has_input = false;
    return message;
  };
  CO_TRY(FollowedProcess started, started_in(inside, shell(start), as_root));
  const Followed followed = followed_.add(std::move(started));
  scope_->spawn(keep(followed, std::nullopt, followed_));
  if (ready.empty()) co_return Status{};
  Unheard unheard;
  for (const Ticks begun = parts_.clock.ticks(); parts_.clock.ticks() - begun < kLongestReady;) {
    wire::StartRequest request = start_request(shell(ready), *inside);
    if (as_root) make_root(request);
    sandbox::Command command = node::command_of(std::move(request), inside->lowered());
    command.as_root = as_root;
    const auto code = co_await node::run_inside(inside, std::move(command), unheard, kLongestReady);
    if (code && *code == 0) break;
    if (!code && code.error().code() != Errc::timeout) co_return code.error();
    asio::steady_timer rest{executor_, kBetweenTries};
    co_await rest.async_wait(asio::use_awaitable);
  }
  co_return Status{};
}

async::Task<void> Face::connect_process(Call& call, Inside inside) {
  CO_TRY(const std::string text, co_await message_of(call));
  CO_TRY(const Message message, Message::read(text));
  const auto found = find_meant(followed_, *inside, message);
  CO_TRY_DO(co_await call.exchange.begin(200, stream_fields(call, kStreamType)));
  if (!found) co_return co_await end_with(call, connect_error(found.error()));
  Reader reader{*found, (*found)->process->written()};
  co_return co_await send_to(reader, call, limit_of(call));
}

async::Task<std::string> Face::list_processes(Call& call, Inside inside) {
  CO_TRY_DO(co_await call.exchange.read_body(kProcessesMessage));
  std::vector<ListedProcess> all;
  for (const Followed& each : followed_.living(*inside)) {
    all.push_back({each->config, each->process->pid(), each->tag});
  }
  co_return to_json(all);
}

async::Task<std::string> Face::update_process(Call& call, Inside inside) {
  CO_TRY(const std::string body, co_await call.exchange.read_body(kProcessesMessage));
  CO_TRY(const Message message, Message::read(body));
  CO_TRY(const Followed found, find_meant(followed_, *inside, message));
  CO_TRY(const auto size, read_terminal(message));
  if (size) found->process->resize({size->rows, size->columns});
  co_return std::string{"{}"};
}

async::Task<std::string> Face::send_input(Call& call, Inside inside) {
  CO_TRY(const std::string body, co_await call.exchange.read_body(kProcessesMessage));
  CO_TRY(const Message message, Message::read(body));
  CO_TRY(const Followed found, find_meant(followed_, *inside, message));
  CO_TRY(const auto input, message.object("input"));
  if (!input) co_return Error{Errc::invalid, "`input` is missing"};
  CO_TRY(auto bytes, input->bytes(found->process->has_terminal() ? "pty" : "stdin"));
  if (!bytes) co_return Error{Errc::invalid, "`input`: stdin, or pty where it has a terminal"};
  CO_TRY_DO(co_await found->process->write(*std::move(bytes), false));
  co_return std::string{"{}"};
}

async::Task<std::string> Face::close_input(Call& call, Inside inside) {
  CO_TRY(const std::string body, co_await call.exchange.read_body(kProcessesMessage));
  CO_TRY(const Message message, Message::read(body));
  CO_TRY(const Followed found, find_meant(followed_, *inside, message));
  CO_TRY_DO(co_await found->process->write({}, true));
  co_return std::string{"{}"};
}

async::Task<std::string> Face::send_signal(Call& call, Inside inside) {
  CO_TRY(const std::string body, co_await call.exchange.read_body(kProcessesMessage));
  CO_TRY(const Message message, Message::read(body));
  CO_TRY(const int signal, read_signal(message));
  CO_TRY(const Followed found, find_meant(followed_, *inside, message));
  if (found->process->exited()) co_return Error{Errc::not_found, "the process has ended"};
  CO_TRY_DO(inside->may_change());
  found->was_signalled = true;
  found->process->signal(signal, frame::SignalTo::process);
  co_return std::string{"{}"};
}

}  // namespace cordon::api::e2b
