// SPDX-License-Identifier: Apache-2.0
// c-ares on Asio's loop: its sockets are waited for here, its answers wake the coroutine that
// asked.
#include "egress/resolver.h"

#include <algorithm>
#include <ares.h>
#include <fstream>
#include <iterator>
#include <sstream>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/waiting.h"
#include "base/clock.h"
#include "policy/host.h"

namespace cordon::egress {
namespace {

constexpr int kTimeout = 2'000;  // milliseconds, of one try; c-ares makes the later ones longer
constexpr int kTries = 3;
constexpr std::size_t kMostAddresses = 32;
// An answer is used again for as long as its server says, and no longer than this: a name that has
// moved is found soon. Every address is judged each time that it is dialled.
constexpr std::chrono::seconds kLongestUse{30};
constexpr std::size_t kMostKept = 1024;
constexpr std::size_t kMostHosts = std::size_t{1} << 20U;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return text;
}

}  // namespace

HostsTable parse_hosts(std::string_view text) {
  HostsTable table;
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    std::istringstream words{line};
    std::string word;
    if (!(words >> word)) continue;
    const auto address = os::IpAddress::parse(word);
    if (!address) continue;
    while (words >> word) {
      const std::string name = lower(word);
      if (policy::is_canonical_name(name)) table[name].push_back(*address);
    }
  }
  return table;
}

// One question, until both its asker and c-ares have let go of it.
struct Resolver::Question {
  explicit Question(const asio::any_io_executor& executor)
      : answered{executor, asio::steady_timer::time_point::max()} {}

  asio::steady_timer answered;  // never fires: cancelled when the answer is there
  bool done = false;
  int status = ARES_SUCCESS;
  std::vector<os::IpAddress> addresses;
  std::ptrdiff_t ipv4 = 0;  // of them
  std::chrono::seconds use = kLongestUse;
};

// Used again until then.
struct KeptAddresses {
  std::vector<os::IpAddress> addresses;
  Ticks until;
};

struct Resolver::Channel {
  explicit Channel(asio::any_io_executor on) : executor{std::move(on)}, timer{executor} {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    if (ares != nullptr) ::ares_destroy(ares);
    for (auto& [fd, socket] : sockets) static_cast<void>(socket->release());
  }

  // c-ares tells which of its sockets it wants to hear of; both false: it closes it now.
  static void on_socket(void* data, ares_socket_t fd, int readable, int writable) {
    auto& self = *static_cast<Channel*>(data);
    const auto found = self.sockets.find(fd);
    if (readable == 0 && writable == 0) {
      if (found == self.sockets.end()) return;
      static_cast<void>(found->second->release());  // the number is c-ares's to close
      self.sockets.erase(found);
      return;
    }
    auto socket =
        found != self.sockets.end()
            ? found->second
            : self.sockets
                  .emplace(fd, std::make_shared<asio::posix::stream_descriptor>(self.executor, fd))
                  .first->second;
    if (readable != 0 && found == self.sockets.end()) self.await_readable(fd, socket);
    if (writable != 0) self.await_writable(fd, socket);
  }

  using Socket = std::shared_ptr<asio::posix::stream_descriptor>;

  bool is_current(ares_socket_t fd, const Socket& socket) const {
    const auto found = sockets.find(fd);
    return found != sockets.end() && found->second == socket;
  }

  void await_readable(ares_socket_t fd, const Socket& socket) {
    socket->async_wait(asio::posix::descriptor_base::wait_read,
                       [this, fd, socket](const boost::system::error_code& error) {
                         if (error || !is_current(fd, socket)) return;
                         ::ares_process_fd(ares, fd, ARES_SOCKET_BAD);
                         if (is_current(fd, socket)) await_readable(fd, socket);
                         set_timer();
                       });
  }
  void await_writable(ares_socket_t fd, const Socket& socket) {
    socket->async_wait(asio::posix::descriptor_base::wait_write,
                       [this, fd, socket](const boost::system::error_code& error) {
                         if (error || !is_current(fd, socket)) return;
                         ::ares_process_fd(ares, ARES_SOCKET_BAD, fd);
                         set_timer();
                       });
  }

  void set_timer() {
    timeval left{};
    if (::ares_timeout(ares, nullptr, &left) == nullptr) {
      timer.cancel();
      return;
    }
    timer.expires_after(std::chrono::seconds{left.tv_sec} +
                        std::chrono::microseconds{left.tv_usec + 1'000});
    timer.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      ::ares_process_fd(ares, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
      set_timer();
    });
  }

  static void on_answer(void* data, int status, int /*timeouts*/, ares_addrinfo* found) {
    const std::unique_ptr<std::shared_ptr<Question>> held{
        static_cast<std::shared_ptr<Question>*>(data)};
    Question& question = **held;
    question.status = status;
    for (const ares_addrinfo_node* at = found != nullptr ? found->nodes : nullptr; at != nullptr;
         at = at->ai_next) {
      if (question.addresses.size() == kMostAddresses) break;
      question.use = std::min(question.use, std::chrono::seconds{std::max(at->ai_ttl, 0)});
      const auto address = os::IpAddress::of(*at->ai_addr);
      if (!address) continue;
      // Those of IPv4 before those of IPv6, each in the order of the answer.
      const auto place = address->is_v6() ? question.addresses.end()
                                          : question.addresses.begin() + question.ipv4++;
      question.addresses.insert(place, *address);
    }
    if (found != nullptr) ::ares_freeaddrinfo(found);
    question.done = true;
    question.answered.cancel();
  }

  asio::any_io_executor executor;
  asio::steady_timer timer;
  ares_channel ares = nullptr;
  std::map<ares_socket_t, Socket> sockets;
  HostsTable hosts;
  std::map<std::string, KeptAddresses, std::less<>> kept;
};

Resolver::Resolver(std::unique_ptr<Channel> channel) : channel_{std::move(channel)} {}
Resolver::~Resolver() = default;

Result<std::unique_ptr<Resolver>> Resolver::open(asio::any_io_executor executor) {
  if (::ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS) {
    return Error{Errc::unavailable, "c-ares cannot be used"};
  }
  auto channel = std::make_unique<Channel>(std::move(executor));
  std::ifstream hosts{"/etc/hosts"};
  std::string text{std::istreambuf_iterator<char>{hosts}, {}};
  text.resize(std::min(text.size(), kMostHosts));
  channel->hosts = parse_hosts(text);
  ares_options options{};
  std::string by_servers = "b";  // files were read above
  // Every name is whole: nothing is appended to it, and what it was asked about is what is
  // answered.
  options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES;
  options.domains = nullptr;  // the flag alone does not keep ares_getaddrinfo from appending them
  options.ndomains = 0;
  options.timeout = kTimeout;
  options.tries = kTries;
  options.lookups = by_servers.data();
  options.sock_state_cb = &Channel::on_socket;
  options.sock_state_cb_data = channel.get();
  const int status =
      ::ares_init_options(&channel->ares, &options,
                          ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS |
                              ARES_OPT_DOMAINS | ARES_OPT_SOCK_STATE_CB);
  if (status != ARES_SUCCESS) return Error{Errc::unavailable, ::ares_strerror(status)};
  return std::unique_ptr<Resolver>{new Resolver{std::move(channel)}};
}

std::optional<std::vector<os::IpAddress>> Resolver::known(const std::string& name) {
  if (const auto own = channel_->hosts.find(name); own != channel_->hosts.end()) {
    return own->second;
  }
  if (const auto kept = channel_->kept.find(name); kept != channel_->kept.end()) {
    if (std::chrono::steady_clock::now() < kept->second.until) return kept->second.addresses;
    channel_->kept.erase(kept);
  }
  return std::nullopt;
}

async::Task<std::vector<os::IpAddress>> Resolver::resolve(std::string name) {
  const Ticks now = std::chrono::steady_clock::now();
  const auto question = std::make_shared<Question>(channel_->executor);
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = ARES_AI_NOSORT;
  ::ares_getaddrinfo(channel_->ares, name.c_str(), nullptr, &hints, &Channel::on_answer,
                     new std::shared_ptr<Question>{question});
  channel_->set_timer();
  while (!question->done) co_await question->answered.async_wait(async::kQuiet);
  if (!question->addresses.empty()) {
    if (channel_->kept.size() >= kMostKept) channel_->kept.clear();
    channel_->kept.insert_or_assign(name, KeptAddresses{question->addresses, now + question->use});
    co_return std::move(question->addresses);
  }
  const bool absent = question->status == ARES_ENOTFOUND || question->status == ARES_ENODATA ||
                      question->status == ARES_SUCCESS;
  co_return Error{absent ? Errc::not_found : Errc::unavailable,
                  name + " cannot be resolved outside: " + ::ares_strerror(question->status)};
}

}  // namespace cordon::egress
