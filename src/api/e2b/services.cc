// SPDX-License-Identifier: Apache-2.0
// What each sandbox has of its own: calls to its processes and files, by its access token.
#include <array>

#include <fmt/format.h>

#include "api/e2b/face.h"
#include "api/e2b/sandbox_request.h"
#include "api/rest/port_passage.h"
#include "api/rest/whereabouts.h"
#include "base/base64.h"
#include "base/bytes.h"
#include "hash/sha256.h"
#include "token/mac.h"

namespace cordon::api::e2b {
namespace {

using token::Operation;

constexpr std::string_view kServicesPort = "49983";
constexpr std::string_view kInterpreterPort = "49999";
constexpr std::string_view kStartPath = "/process.Process/Start";
constexpr std::string_view kTokenField = "X-Access-Token";
constexpr std::string_view kTrafficField = "E2B-Traffic-Access-Token";

struct OnceRoute {
  Route route;
  async::Task<std::string> (Face::*handler)(Call&, Face::Inside);
};
struct StreamRoute {
  Route route;
  async::Task<void> (Face::*handler)(Call&, Face::Inside);
};

// What is answered once, by what it is called.
constexpr std::array kOnce = {
    OnceRoute{{"GET", "{id}/process.Process/List", Operation::process_read}, &Face::list_processes},
    OnceRoute{{"POST", "{id}/process.Process/Update", Operation::process_input},
              &Face::update_process},
    OnceRoute{{"POST", "{id}/process.Process/SendInput", Operation::process_input},
              &Face::send_input},
    OnceRoute{{"POST", "{id}/process.Process/SendSignal", Operation::process_signal},
              &Face::send_signal},
    OnceRoute{{"POST", "{id}/process.Process/CloseStdin", Operation::process_input},
              &Face::close_input},
    OnceRoute{{"GET", "{id}/filesystem.Filesystem/Stat", Operation::file_read}, &Face::stat},
    OnceRoute{{"POST", "{id}/filesystem.Filesystem/MakeDir", Operation::file_write},
              &Face::make_directory},
    OnceRoute{{"POST", "{id}/filesystem.Filesystem/Move", Operation::file_write}, &Face::move},
    OnceRoute{{"GET", "{id}/filesystem.Filesystem/ListDir", Operation::file_read},
              &Face::list_directory},
    OnceRoute{{"POST", "{id}/filesystem.Filesystem/Remove", Operation::file_write}, &Face::remove},
    OnceRoute{{"GET", "{id}/filesystem.Filesystem/CreateWatcher", Operation::file_read},
              &Face::create_watcher},
    OnceRoute{{"GET", "{id}/filesystem.Filesystem/GetWatcherEvents", Operation::file_read},
              &Face::watcher_events},
    OnceRoute{{"GET", "{id}/filesystem.Filesystem/RemoveWatcher", Operation::file_read},
              &Face::remove_watcher},
};
// What goes on until its end.
constexpr std::array kStreams = {
    StreamRoute{{"POST", "{id}/process.Process/Start", Operation::process_start},
                &Face::start_process},
    StreamRoute{{"GET", "{id}/process.Process/Connect", Operation::process_read},
                &Face::connect_process},
    StreamRoute{{"GET", "{id}/filesystem.Filesystem/WatchDir", Operation::file_read},
                &Face::watch_directory},
};
constexpr Route kPort{"GET", "{id}/port", Operation::tunnel_open};
constexpr StreamRoute kRead{{"GET", "{id}/files", Operation::file_read}, &Face::read_file};
constexpr StreamRoute kWrite{{"POST", "{id}/files", Operation::file_write}, &Face::write_files};

// Whether the route is of this call: what follows the sandbox.
bool is_of(const Route& route, std::string_view path) {
  return route.pattern.substr(std::string_view{"{id}"}.size()) == path;
}

// The one status by which clients know that a sandbox is gone.
async::Task<void> answer_gone(Call& call, std::string_view sandbox, std::string_view port) {
  wire::JsonWriter json;
  json.begin_object();
  json.text("sandboxId", sandbox);
  json.text("message", port.empty() ? "The sandbox was not found"
                                    : "The sandbox is running but nothing is there on this port");
  if (!port.empty()) json.text("port", port);
  json.number("code", std::int64_t{502});
  json.end_object();
  return call.exchange.answer(502, stream_fields(call, "application/json"), json.take());
}

async::Task<void> answer_locked(Call& call) {
  return answer_error(call,
                      wire::ProblemAnswer{.status = 401,
                                          .code = "CORDON-API-UNAUTHENTICATED",
                                          .detail = "the access token of the sandbox, or a "
                                                    "signature made with it, is wrong or missing",
                                          .remedy = {}});
}

// A code that is a text is for those who speak Connect, the status for the others.
async::Task<void> answer_stranger(Call& call, const std::string& user) {
  const ConnectError error{
      .code = ConnectCode::unauthenticated,
      .message = fmt::format("there is no user '{}' for this: processes are of '{}' or '{}', files "
                             "are read and written as '{}'",
                             user, kUser, kRoot, kUser)};
  return answer_json(call, status_of(error.code), to_json(error));
}

// One that ends, or stands still, is told of as gone.
bool is_there(const Face::Inside& inside) {
  return inside && !inside->is_ending() && !inside->is_paused();
}

// What a signature of this call would be over; nothing: it is not of a file.
std::optional<SignedFile> signed_file(const Call& call) {
  const auto value = [&](std::string_view name) {
    const auto found = call.query.find(name);
    return found == call.query.end() ? std::string{} : found->second;
  };
  SignedFile file{.path = value("path"),
                  .user = value("username"),
                  .use = call.exchange.head().method == "POST" ? FileUse::write : FileUse::read,
                  .expires = {}};
  const auto expires = number_of(call, "signature_expiration");
  if (!expires) return std::nullopt;
  const std::optional<std::uint64_t> seconds = *expires;
  if (!seconds) return file;
  if (*seconds > INT64_MAX) return std::nullopt;
  file.expires = static_cast<std::int64_t>(*seconds);
  return file;
}

// Forms write a space as a plus.
Result<Query> form_query(const http::RequestHead& head) {
  std::string text;
  for (const char c : head.target.query.value_or(std::string{})) {
    c == '+' ? text += "%20" : text += c;
  }
  return read_query(text);
}

}  // namespace

Result<std::string> named_user(const Call& call) {
  if (const auto user = call.query.find("username"); user != call.query.end()) return user->second;
  constexpr std::string_view kScheme = "Basic ";
  const auto shown = http::only(call.exchange.head().fields, "Authorization");
  if (!shown || !shown->starts_with(kScheme)) return std::string{};
  const auto pair = from_base64(shown->substr(kScheme.size()));
  if (!pair || !pair->ends_with(':'))
    return Error{Errc::invalid, "Authorization: NAME and no password"};
  return pair->substr(0, pair->size() - 1);
}

bool Face::is_open(const Call& call, const node::Resident& resident) const {
  const auto shown = http::only(call.exchange.head().fields, kTokenField);
  return shown && opens(*shown, resident, Door::services);
}

bool Face::shows_traffic_token(const Call& call, const node::Resident& resident) const {
  const auto shown = http::only(call.exchange.head().fields, kTrafficField);
  return shown && opens(*shown, resident, Door::traffic);
}

// Of one that another node had it is what that node has told its clients.
std::string Face::door_of(const node::Resident& resident, Door door) const {
  const node::Papers& papers = resident.facts().papers;
  const std::string& told = door == Door::services ? papers.services : papers.traffic;
  return told.empty() ? tokens_.of(resident.facts().id.text(), door) : told;
}

bool Face::opens(std::string_view shown, const node::Resident& resident, Door door) const {
  return token::same_bytes(sha256({as_bytes(shown)}), sha256({as_bytes(door_of(resident, door))}));
}

node::Residents::Doors Face::doors_of(const node::Resident& resident) const {
  return {door_of(resident, Door::services), door_of(resident, Door::traffic)};
}

async::Task<void> answer_without_traffic_token(Call& call) {
  return answer_error(call, wire::ProblemAnswer{.status = 403,
                                                .code = "CORDON-API-DENIED",
                                                .detail = "this port of the sandbox wants its "
                                                          "traffic token",
                                                .remedy = "send it as `E2B-Traffic-Access-Token`"});
}

async::Task<void> Face::serve_inside(Call& call, std::string_view sandbox, std::string_view port) {
  const auto id = SandboxId::parse(sandbox);
  const Inside inside = id && parts_.residents.knows(*id) ? parts_.residents.find(*id) : nullptr;
  if (!is_there(inside)) {
    std::optional<wire::ProblemAnswer> elsewhere;
    if (id) {
      CO_TRY(elsewhere, co_await whereabouts_of(parts_.residents, *id, {}));
    }
    if (elsewhere) co_return co_await answer_error(call, *elsewhere);
    co_return co_await answer_gone(call, sandbox, {});
  }
  const http::RequestHead& head = call.exchange.head();
  if (port == kInterpreterPort) co_return co_await serve_interpreter(call, inside);
  if (!port.empty() && port != kServicesPort) co_return co_await serve_port(call, inside, port);
  if (head.method == "GET" && head.target.path == "/health")
    co_return co_await answer_nothing(call);
  call.places = {std::string{sandbox}};
  call.tenant = inside->facts().tenant;
  CO_TRY(auto counted, parts_.quotas.begin_request(call.tenant));
  CO_TRY(call.query, form_query(head));
  if (!is_open(call, *inside)) {
    const bool is_signed_file = head.target.path == "/files" && call.query.contains("signature");
    if (!is_signed_file) co_return co_await answer_locked(call);
    const auto file = signed_file(call);
    const auto now = std::chrono::floor<std::chrono::seconds>(parts_.clock.wall());
    if (!file ||
        !is_signed(*file, door_of(*inside, Door::services), call.query.at("signature"), now)) {
      co_return co_await answer_locked(call);
    }
  }
  co_return co_await serve_service(call, inside);
}

async::Task<void> Face::serve_service(Call& call, Inside inside) {
  const http::RequestHead& head = call.exchange.head();
  CO_TRY(const std::string user, named_user(call));
  const std::string& path = head.target.path;
  const bool may_be_root = path == kStartPath;
  if (!user.empty() && user != kUser && !(may_be_root && user == kRoot)) {
    co_return co_await answer_stranger(call, user);
  }
  if (path == "/files") {
    const StreamRoute& chosen = head.method == "POST" ? kWrite : kRead;
    call.route = &chosen.route;
    CO_TRY_DO(record_.begun(call));
    co_return co_await (this->*chosen.handler)(call, inside);
  }
  for (const StreamRoute& each : kStreams) {
    if (!is_of(each.route, path)) continue;
    call.route = &each.route;
    CO_TRY_DO(record_.begun(call));
    co_return co_await (this->*each.handler)(call, inside);
  }
  for (const OnceRoute& each : kOnce) {
    if (!is_of(each.route, path)) continue;
    call.route = &each.route;
    CO_TRY_DO(record_.begun(call));
    const auto said = co_await (this->*each.handler)(call, inside);
    if (said) co_return co_await answer_json(call, 200, *said);
    if (call.exchange.has_faulty_body()) co_return said.error();
    const ConnectError error = connect_error(said.error());
    co_return co_await answer_json(call, status_of(error.code), to_json(error));
  }
  const ConnectError none{.code = ConnectCode::unimplemented,
                          .message = "this node does not have this call; see docs/e2b.md"};
  co_return co_await answer_json(call, status_of(none.code), to_json(none));
}

async::Task<void> Face::serve_port(Call& call, Inside inside, std::string_view port) {
  const std::string id = inside->facts().id.text();
  const auto number = port_of(port);
  if (!number || !inside->lets_in(*number)) co_return co_await answer_gone(call, id, port);
  const bool is_private = inside->facts().labels.contains(std::string{kPrivateLabel});
  if (is_private && !shows_traffic_token(call, *inside)) {
    co_return co_await answer_without_traffic_token(call);
  }
  call.places = {id};
  call.tenant = inside->facts().tenant;
  CO_TRY(auto counted, parts_.quotas.begin_request(call.tenant));
  call.route = &kPort;
  CO_TRY_DO(record_.begun(call));
  auto way = co_await open_port(inside, *number);
  if (!way && way.error().code() == Errc::exhausted) co_return way.error();
  if (!way) co_return co_await answer_gone(call, id, port);
  const Status passed = co_await pass_to_port(
      call, *std::move(way), call.exchange.head().target.path, Credentials::of_the_inner);
  if (passed || call.exchange.is_answered() || call.exchange.has_faulty_body()) co_return passed;
  co_return co_await answer_gone(call, id, port);
}

// Whoever made the URL has named no sandbox in it: the one whose token signs it is meant.
async::Task<void> Face::serve_signed(Call& call) {
  CO_TRY(call.query, form_query(call.exchange.head()));
  const auto signature = call.query.find("signature");
  const auto file = signed_file(call);
  if (signature == call.query.end() || !file) co_return co_await answer_locked(call);
  lookups_.begins(parts_.clock.ticks());
  bool is_enough = false;
  const auto now = std::chrono::floor<std::chrono::seconds>(parts_.clock.wall());
  const auto meant = [&](const node::Resident& resident) {
    is_enough = is_enough || !lookups_.take();
    return !is_enough && !resident.is_ending() &&
           is_signed(*file, door_of(resident, Door::services), signature->second, now);
  };
  const auto found = parts_.residents.list("", 1, meant);
  if (is_enough) co_return Error{Errc::exhausted, "too many signed URLs in this second"};
  if (found.empty() || !is_there(found.front())) co_return co_await answer_locked(call);
  call.places = {found.front()->facts().id.text()};
  call.tenant = found.front()->facts().tenant;
  CO_TRY(auto counted, parts_.quotas.begin_request(call.tenant));
  co_return co_await serve_service(call, found.front());
}

}  // namespace cordon::api::e2b
