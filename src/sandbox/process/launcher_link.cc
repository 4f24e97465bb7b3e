// SPDX-License-Identifier: Apache-2.0
#include "sandbox/process/launcher_link.h"

#include <memory>
#include <span>

#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>

#include "async/borrowed_fd.h"
#include "async/deadline.h"
#include "async/waiting.h"
#include "os/socket.h"

namespace cordon::sandbox {
namespace {

constexpr std::size_t kMostFds = 5;  // beside a message of a launcher: those of Launched

// For another launcher. Whoever calls wants to hear, too, that there is none.
constexpr std::chrono::seconds kPatience{3};

std::string id_of(const frame::FromLauncher& message) {
  return std::visit(
      [](const auto& body) -> std::string {
        if constexpr (requires { body.id; }) {
          return body.id;
        } else {
          return {};
        }
      },
      message);
}

Error error_of(const frame::FromLauncher& message) {
  if (const auto* refused = std::get_if<frame::Refused>(&message)) {
    const bool absent = refused->code == "not_found" || refused->code == "ended";
    return Error{absent ? Errc::not_found : Errc::denied, refused->code + ": " + refused->text};
  }
  if (const auto* broken = std::get_if<frame::Broken>(&message)) {
    return Error{Errc::unavailable, broken->step + ": " + broken->text};
  }
  return Error{Errc::internal, "the launcher answered something else"};
}

// The last two, taken from `fds`, where it is said that they are there.
os::SteeredSockets sockets_beside(const std::string& tenant, std::vector<os::Fd>& fds) {
  os::SteeredSockets sockets;
  if (tenant.empty() || fds.size() < 2) return sockets;
  sockets.udp = std::move(fds.back());
  fds.pop_back();
  sockets.tcp = std::move(fds.back());
  fds.pop_back();
  return sockets;
}

}  // namespace

struct LauncherLink::Queue {
  explicit Queue(const asio::any_io_executor& executor)
      : renewed{executor, asio::steady_timer::time_point::max()} {}

  bool taken = false;
  asio::steady_timer renewed;               // never fires: cancelled when there is a launcher again
  std::deque<asio::steady_timer*> waiting;  // never fire: cancelled when it is their turn
};

// Holds the link for one call.
class LauncherLink::Turn {
 public:
  static asio::awaitable<Turn> take(std::shared_ptr<Queue> queue) {
    if (queue->taken) {
      asio::steady_timer turn{co_await asio::this_coro::executor,
                              asio::steady_timer::time_point::max()};
      queue->waiting.push_back(&turn);
      const Leaving leaving{*queue, turn};
      while (queue->taken || queue->waiting.front() != &turn) {
        co_await turn.async_wait(async::kQuiet);
      }
    }
    queue->taken = true;
    co_return Turn{std::move(queue)};
  }
  Turn(Turn&&) noexcept = default;
  Turn& operator=(Turn&&) = delete;
  ~Turn() {
    if (!queue_) return;
    queue_->taken = false;
    if (!queue_->waiting.empty()) queue_->waiting.front()->cancel();
  }

 private:
  // Also for one whose caller gave up: it must not be waited for.
  struct Leaving {
    Leaving(Queue& of, asio::steady_timer& who) : queue{of}, timer{who} {}
    Leaving(const Leaving&) = delete;
    Leaving& operator=(const Leaving&) = delete;
    ~Leaving() {
      std::erase(queue.waiting, &timer);
      if (!queue.taken && !queue.waiting.empty()) queue.waiting.front()->cancel();
    }
    Queue& queue;
    asio::steady_timer& timer;
  };
  explicit Turn(std::shared_ptr<Queue> queue) : queue_{std::move(queue)} {}
  std::shared_ptr<Queue> queue_;
};

LauncherLink::LauncherLink(const asio::any_io_executor& executor, os::Fd socket)
    : socket_{executor, socket.release()}, queue_{std::make_shared<Queue>(executor)} {}

Result<os::Fd> LauncherLink::knock(const std::string& path) {
  TRY(const os::UnixAddress address, os::UnixAddress::at_path(path));
  TRY(os::Fd socket, os::unix_connect(address, os::SocketType::seqpacket));
  TRY(const os::PeerCredentials peer, os::peer_credentials(socket));
  if (peer.uid != 0) return Error{Errc::denied, path + ": the launcher there is not root's"};
  return socket;
}

async::Task<LauncherLink> LauncherLink::connect(std::string path) {
  CO_TRY(os::Fd socket, knock(path));
  LauncherLink link{co_await asio::this_coro::executor, std::move(socket)};
  link.path_ = std::move(path);
  CO_TRY_DO(co_await link.be_welcomed());
  co_return link;
}

async::Task<void> LauncherLink::be_welcomed() {
  CO_TRY(const Message first, co_await receive());
  const auto* welcome = std::get_if<frame::Welcome>(&first.body);
  if (welcome == nullptr) co_return error_of(first.body).with(path_);
  if (welcome->version != frame::kLauncherVersion) {
    co_return Error{Errc::unavailable, path_ + ": the launcher speaks another version"};
  }
  facts_ = welcome->facts;
  co_return Status{};
}

asio::awaitable<void> LauncherLink::until_lost() {
  // A hang-up counts as an error; what the launcher says does not.
  if (lost_) co_return;
  const auto [error] =
      co_await socket_.async_wait(asio::posix::descriptor_base::wait_error, async::kQuiet);
  // Else whoever waits here was given up.
  if (error != asio::error::operation_aborted) lost_ = true;
}

async::Task<void> LauncherLink::renew() {
  // Who still waits for an answer of the old one has got its end first.
  const Turn turn = co_await Turn::take(queue_);
  CO_TRY(os::Fd socket, knock(path_));
  socket_ = asio::posix::stream_descriptor{socket_.get_executor(), socket.release()};
  CO_TRY_DO(co_await be_welcomed());
  lost_ = false;
  queue_->renewed.cancel();
  co_return Status{};
}

async::Task<void> LauncherLink::until_renewed() {
  const auto queue = queue_;
  co_await queue->renewed.async_wait(async::kQuiet);
  co_return Status{};
}

Error LauncherLink::lost() {
  lost_ = true;
  return Error{Errc::unavailable, "the launcher has ended"};
}

async::Task<LauncherLink::Message> LauncherLink::receive() {
  const auto [error] =
      co_await socket_.async_wait(asio::posix::descriptor_base::wait_read, async::kQuiet);
  // Its caller gave up: that says nothing about the launcher.
  if (error == asio::error::operation_aborted) co_return Error{Errc::timeout, "given up"};
  if (error) co_return lost();
  // Not set to zero: no page is touched that no message fills.
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(frame::kLongestLauncherMessage);
  const std::span buffer{memory.get(), frame::kLongestLauncherMessage};
  auto got = os::receive(*async::BorrowedFd{socket_}, buffer, kMostFds);
  if (!got || got->bytes == 0) co_return lost();
  CO_TRY(frame::FromLauncher body, frame::decode_from_launcher(buffer.first(got->bytes)));
  Message message{std::move(body), std::move(got->fds)};
  co_return message;
}

async::Task<LauncherLink::Message> LauncherLink::ask(frame::ToLauncher request, std::string id,
                                                     std::vector<os::Fd> fds) {
  if (lost_ && !path_.empty()) {
    static_cast<void>(co_await async::within(kPatience, until_renewed()));
    if (lost_) co_return lost();
  }
  const Turn turn = co_await Turn::take(queue_);
  std::vector<const os::Fd*> beside;
  beside.reserve(fds.size());
  for (const os::Fd& fd : fds) beside.push_back(&fd);
  if (!os::send(*async::BorrowedFd{socket_}, frame::encode(request), beside)) co_return lost();
  for (;;) {
    CO_TRY(Message message, co_await receive());
    const std::string about = id_of(message.body);
    // Another id's is the answer to a call that was given up; a message that was not understood is
    // answered without an id.
    const bool unnamed = about.empty() && !std::holds_alternative<frame::Ended>(message.body);
    if (about == id || unnamed) co_return message;
  }
}

Result<LaunchedSandbox> LauncherLink::sandbox_of(Message message) {
  std::vector<os::Fd>& fds = message.fds;
  if (auto* launched = std::get_if<frame::Launched>(&message.body)) {
    os::SteeredSockets sockets = sockets_beside(launched->tenant, fds);
    os::Fd witness;
    if (launched->has_witness && !fds.empty()) {
      witness = std::move(fds.back());
      fds.pop_back();
    }
    if (fds.size() < 2) return Error{Errc::internal, "the launcher sent no stream"};
    return LaunchedSandbox{std::move(*launched), std::move(fds[0]),
                           std::move(fds[1]),    fds.size() > 2 ? std::move(fds[2]) : os::Fd{},
                           std::move(witness),   std::move(sockets)};
  }
  if (auto* stored = std::get_if<frame::Stored>(&message.body)) {
    os::SteeredSockets sockets = sockets_beside(stored->tenant, fds);
    if (fds.empty()) return Error{Errc::internal, "the launcher sent no stream"};
    return LaunchedSandbox{{.id = std::move(stored->id), .tenant = std::move(stored->tenant)},
                           std::move(fds[0]),
                           os::Fd{},
                           fds.size() > 1 ? std::move(fds[1]) : os::Fd{},
                           os::Fd{},
                           std::move(sockets)};
  }
  return error_of(message.body);
}

async::Task<LaunchedSandbox> LauncherLink::launch(const frame::LaunchPlan& plan) {
  const std::vector<std::byte> encoded = frame::encode(plan);
  frame::Launch request{{reinterpret_cast<const char*>(encoded.data()), encoded.size()}};
  CO_TRY(Message message, co_await ask(std::move(request), plan.id));
  co_return sandbox_of(std::move(message));
}

async::Task<frame::Ended> LauncherLink::destroy(std::string id) {
  const frame::Destroy request{id};
  CO_TRY(Message message, co_await ask(request, id));
  if (auto* ended = std::get_if<frame::Ended>(&message.body)) co_return std::move(*ended);
  co_return error_of(message.body);
}

async::Task<std::vector<frame::Held>> LauncherLink::list() {
  std::vector<frame::Held> all;
  for (bool more = true; more;) {
    const frame::List request{all.empty() ? std::string{} : all.back().id};
    CO_TRY(Message message, co_await ask(request, {}));
    auto* page = std::get_if<frame::Sandboxes>(&message.body);
    if (page == nullptr) co_return error_of(message.body);
    more = page->more && !page->held.empty();
    all.insert(all.end(), std::make_move_iterator(page->held.begin()),
               std::make_move_iterator(page->held.end()));
  }
  co_return all;
}

async::Task<LaunchedSandbox> LauncherLink::fetch(std::string id) {
  const frame::Fetch request{id};
  CO_TRY(Message message, co_await ask(request, id));
  co_return sandbox_of(std::move(message));
}

async::Task<void> LauncherLink::deposit(LaunchedSandbox copies) {
  std::vector<os::Fd> fds;
  fds.push_back(std::move(copies.control));
  if (copies.range) fds.push_back(std::move(copies.range));
  if (copies.sockets.tcp && copies.sockets.udp) {
    fds.push_back(std::move(copies.sockets.tcp));
    fds.push_back(std::move(copies.sockets.udp));
  }
  const std::string id = copies.about.id;
  const frame::Deposit request{id, copies.about.tenant};
  CO_TRY(Message message, co_await ask(request, id, std::move(fds)));
  if (!std::holds_alternative<frame::Stored>(message.body)) co_return error_of(message.body);
  co_return Status{};
}

async::Task<void> LauncherLink::keep_listener(KeptListener copy) {
  std::vector<os::Fd> fds;
  if (copy.socket) fds.push_back(std::move(copy.socket));
  std::string about = "listener:" + copy.name;
  frame::KeepListener request{std::move(copy.name), std::move(copy.address)};
  CO_TRY(Message message, co_await ask(std::move(request), std::move(about), std::move(fds)));
  if (!std::holds_alternative<frame::Stored>(message.body)) co_return error_of(message.body);
  co_return Status{};
}

async::Task<KeptListener> LauncherLink::take_listener(std::string name) {
  const frame::TakeListener request{name};
  CO_TRY(Message message, co_await ask(request, "listener:" + name));
  auto* const stored = std::get_if<frame::Stored>(&message.body);
  if (stored == nullptr || message.fds.size() != 1) co_return error_of(message.body);
  co_return KeptListener{std::move(name), std::move(stored->address),
                         std::move(message.fds.front())};
}

async::Task<OpenedEgress> LauncherLink::open_egress(std::string tenant, os::Fd state) {
  std::string about = "egress:" + tenant;
  std::vector<os::Fd> fds;
  if (state) fds.push_back(std::move(state));
  frame::OpenEgress request{std::move(tenant)};
  CO_TRY(Message message, co_await ask(std::move(request), std::move(about), std::move(fds)));
  const bool opened = std::holds_alternative<frame::EgressOpened>(message.body);
  if (!opened || message.fds.size() != 2) co_return error_of(message.body);
  co_return OpenedEgress{std::move(message.fds[0]), std::move(message.fds[1])};
}

async::Task<os::Fd> LauncherLink::open_broker(std::string tenant) {
  std::string about = "broker:" + tenant;
  frame::OpenBroker request{std::move(tenant)};
  CO_TRY(Message message, co_await ask(std::move(request), std::move(about)));
  const bool opened = std::holds_alternative<frame::BrokerOpened>(message.body);
  if (!opened || message.fds.size() != 1) co_return error_of(message.body);
  co_return std::move(message.fds.front());
}

async::Task<os::Fd> LauncherLink::open_notary() {
  CO_TRY(Message message, co_await ask(frame::OpenNotary{}, "notary"));
  const bool opened = std::holds_alternative<frame::NotaryOpened>(message.body);
  if (!opened || message.fds.size() != 1) co_return error_of(message.body);
  co_return std::move(message.fds.front());
}

async::Task<os::Fd> LauncherLink::open_keeper() {
  CO_TRY(Message message, co_await ask(frame::OpenKeeper{}, "keeper"));
  const bool opened = std::holds_alternative<frame::KeeperOpened>(message.body);
  if (!opened || message.fds.size() != 1) co_return error_of(message.body);
  co_return std::move(message.fds.front());
}

async::Task<std::vector<os::Fd>> LauncherLink::open_recorder(std::vector<os::Fd> kept) {
  CO_TRY(Message message, co_await ask(frame::OpenRecorder{}, "recorder", std::move(kept)));
  const bool opened = std::holds_alternative<frame::RecorderOpened>(message.body);
  if (!opened || message.fds.size() != frame::kRecorderParts) co_return error_of(message.body);
  co_return std::move(message.fds);
}

async::Task<frame::EngineTried> LauncherLink::try_engine(bool machine) {
  CO_TRY(Message message, co_await ask(frame::TryEngine{machine}, "engine"));
  auto* const tried = std::get_if<frame::EngineTried>(&message.body);
  if (tried == nullptr) co_return error_of(message.body);
  co_return std::move(*tried);
}

async::Task<void> LauncherLink::read_source(frame::ReadSource wanted) {
  std::string about = "source:" + std::to_string(wanted.ticket);
  CO_TRY(Message message, co_await ask(std::move(wanted), std::move(about)));
  if (!std::holds_alternative<frame::SourceStarted>(message.body)) {
    co_return error_of(message.body);
  }
  co_return Status{};
}

}  // namespace cordon::sandbox
