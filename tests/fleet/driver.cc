// SPDX-License-Identifier: Apache-2.0
// The client of etcd and what stands on it, driven over pipes: `fleet_driver MEMBER,... [AUTHORITY
// CERTIFICATE KEY]`. Each line of standard input is `NUMBER COMMAND WORD...`; each line of standard
// output a JSON object with that number. Commands run beside each other.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/block_on.h"
#include "async/scope.h"
#include "async/waiting.h"
#include "base/log.h"
#include "etcd/client.h"
#include "etcd/codec.h"
#include "etcd/lease.h"
#include "etcd/mirror.h"
#include "etcd/own_key.h"
#include "etcd/sleep.h"
#include "etcd/watch.h"
#include "fleet/confer.h"
#include "fleet/registration.h"
#include "fleet/roster.h"

namespace cordon::etcd {
namespace {

using Words = std::vector<std::string>;

// One line. Values of `fields` are JSON already.
void say(const std::string& number, const std::string& fields) {
  std::printf("{\"number\":%s,%s}\n", number.c_str(), fields.c_str());
  std::fflush(stdout);
}

std::string in_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string shown(const KeyValue& kv) {
  return "{\"key\":" + in_json(kv.key) + ",\"value\":" + in_json(kv.value) +
         ",\"revision\":" + std::to_string(kv.mod_revision) +
         ",\"lease\":" + std::to_string(std::to_underlying(kv.lease)) + "}";
}

std::string shown(const Event& event) {
  const bool is_put = event.kind == Event::Kind::put;
  return std::string{"{\"kind\":"} + (is_put ? "\"put\"" : "\"removed\"") +
         ",\"now\":" + shown(event.now) + "}";
}

template <class Value>
std::string listed(const std::vector<Value>& values) {
  std::string out = "[";
  for (const Value& value : values) out.append(out.size() == 1 ? "" : ",").append(shown(value));
  return out + "]";
}

std::string revision_of(const Origin& origin) {
  return "\"revision\":" + std::to_string(origin.revision);
}

LeaseId lease_of(const Words& words, std::size_t at) {
  return at < words.size() ? LeaseId{std::stoll(words[at])} : LeaseId::none;
}

class Driver {
 public:
  explicit Driver(Transport& transport) : client_{transport} {}

  asio::awaitable<void> run(std::string number, Words words) {
    auto said = co_await act(number, words);
    if (said) {
      say(number, *said);
    } else {
      say(number, "\"error\":" + in_json(to_string(said.error().code())) +
                      ",\"text\":" + in_json(said.error().text()));
    }
  }

 private:
  async::Task<std::string> act(std::string number, Words words) {
    const std::string& verb = words[0];
    if (verb == "get") {
      const Client::Limit limit =
          words.size() > 2 ? Client::Limit{std::stoll(words[2])} : Client::kLimit;
      co_return co_await get({.keys = only(words[1])}, limit);
    }
    if (verb == "below") co_return co_await get({.keys = below(words[1])});
    if (verb == "get_at")
      co_return co_await get({.keys = only(words[1]), .at = std::stoll(words[2])});
    if (verb == "put") co_return co_await put(words);
    if (verb == "remove") {
      CO_TRY(const Removed removed, co_await client_.remove({.keys = below(words[1])}));
      co_return "\"removed\":" + std::to_string(removed.count);
    }
    if (verb == "replace") co_return co_await replace(words);
    if (verb == "grant") {
      const LeaseId id = words.size() > 2 ? lease_of(words, 2) : fresh_lease_id();
      CO_TRY_DO(co_await client_.grant(id, std::chrono::seconds{std::stoll(words[1])}));
      co_return "\"lease\":" + std::to_string(std::to_underlying(id));
    }
    if (verb == "revoke") {
      CO_TRY_DO(co_await client_.revoke(lease_of(words, 1)));
      co_return "\"done\":true";
    }
    if (verb == "keep") {
      CO_TRY_DO(co_await keep_alive(client_, lease_of(words, 1),
                                    std::chrono::seconds{std::stoll(words[2])},
                                    [number](Ticks) { say(number, "\"kept\":true"); }));
      co_return "\"done\":true";
    }
    if (verb == "own") co_return co_await own(words);
    if (verb == "watch") co_return co_await watch(number, words);
    if (verb == "abandon") co_return co_await abandon(words);
    if (verb == "mirror") co_return co_await mirror(number, words);
    if (verb == "follow") {
      CO_TRY_DO(
          co_await fleet::follow(client_, 1, roster_, clock_, [](const fleet::Roster::News&) {}));
      co_return "\"done\":true";
    }
    if (verb == "roster") co_return roster();
    if (verb == "answers" || verb == "silent") {
      for (std::size_t i = 1; i < words.size(); ++i) heard_of(words[i], verb == "answers");
      co_return "\"done\":true";
    }
    if (verb == "quota") co_return co_await quota(words);
    if (verb == "demand" || verb == "running") {
      if (verb == "demand") demand_ = std::stoull(words[1]);
      co_return "\"running\":" + std::to_string(quota_ ? quota_->used() : 0);
    }
    if (verb == "register") co_return co_await enrol(words);
    if (verb == "free" || verb == "drain") {
      if (verb == "free") said_.gauge.free = static_cast<std::uint32_t>(std::stoul(words[1]));
      if (verb == "drain") said_.is_draining = true;
      if (registration_) registration_->changed();
      co_return "\"done\":true";
    }
    co_return Error{Errc::invalid, "no such command: " + verb};
  }

  async::Task<std::string> get(Range range, Client::Limit limit = Client::kLimit) {
    CO_TRY(const Found found, co_await client_.range(std::move(range), limit));
    co_return revision_of(found.origin) + ",\"found\":" + listed(found.values);
  }

  async::Task<std::string> put(Words words) {
    Put put{.key = words[1], .value = words[2], .lease = lease_of(words, 3)};
    CO_TRY(const Written written, co_await client_.put(std::move(put), Client::Limit{1000}));
    co_return revision_of(written.origin);
  }

  // KEY REVISION VALUE
  async::Task<std::string> replace(Words words) {
    Txn txn{.when = {{.key = words[1], .than = Compare::ModRevision{std::stoll(words[2])}}},
            .then = {Put{.key = words[1], .value = words[3]}},
            .otherwise = {Range{.keys = only(words[1])}}};
    CO_TRY(const Decided decided, co_await client_.txn(std::move(txn)));
    std::string said =
        revision_of(decided.origin) + ",\"held\":" + (decided.held ? "true" : "false");
    if (!decided.held) {
      said += ",\"found\":" + listed(std::get<Found>(decided.answers.at(0)).values);
    }
    co_return said;
  }

  // KEY VALUE LEASE REPLACE: with "any" another's value may be replaced, with "none" not.
  async::Task<std::string> own(Words words) {
    const bool any = words.at(4) == "any";
    OwnKey& key =
        owned_.try_emplace(words[1], client_, words[1], [any](const KeyValue&) { return any; })
            .first->second;
    CO_TRY_DO(co_await key.write(words[2], lease_of(words, 3), Client::Limit{20'000}));
    co_return "\"revision\":" + std::to_string(key.revision());
  }

  // PREFIX [REVISION]
  async::Task<std::string> watch(std::string number, Words words) {
    CO_TRY(const Found now, co_await client_.range({.keys = below(words[1]), .limit = 1}));
    const Revision from = words.size() > 2 ? std::stoll(words[2]) : now.origin.revision + 1;
    Watch watch{client_, below(words[1]), from, now.origin.cluster};
    say(number, "\"from\":" + std::to_string(from));
    for (;;) {
      CO_TRY(const Watch::Batch batch, co_await watch.next());
      say(number, revision_of(batch.origin) + ",\"events\":" + listed(batch.events));
    }
  }

  // KEY: a stream that goes while a message of it waits to be read.
  async::Task<std::string> abandon(Words words) {
    const Client::Opened opened = client_.open("/etcdserverpb.Watch/Watch");
    opened.stream->write(encode_watch(only(words[1]), 1));
    co_await sleep(std::chrono::milliseconds{300});
    co_return "\"done\":true";
  }

  async::Task<std::string> mirror(std::string number, Words words) {
    Mirror mirror{client_, words[1], [number](const std::vector<Event>& events) {
                    say(number, "\"events\":" + listed(events));
                  }};
    CO_TRY_DO(co_await mirror.run());
    co_return "\"done\":true";
  }

  void heard_of(const std::string& number, bool answers) {
    const fleet::NodeId node{1, static_cast<std::uint32_t>(std::stoul(number))};
    if (answers) {
      roster_.answered(node, std::nullopt, clock_.ticks());
    } else {
      roster_.unanswered(node, clock_.ticks());
    }
  }

  // Each node of cell 1 with its standing.
  std::string roster() {
    const Ticks now = clock_.ticks();
    roster_.tick(now);
    std::string placeable;
    std::string others;
    for (const fleet::NodeId node : roster_.all()) {
      const bool is_placeable = roster_.standing(node, now) == fleet::Standing::placeable;
      std::string& to = is_placeable ? placeable : others;
      to.append(to.empty() ? "" : ",").append(std::to_string(node.node));
    }
    return "\"placeable\":[" + placeable + "],\"others\":[" + others +
           "],\"frozen\":" + (roster_.is_frozen(1) ? "true" : "false");
  }

  // CELL TENANT: as many run as are demanded and may.
  async::Task<std::string> quota(Words words) {
    quota_.emplace(static_cast<fleet::Cell>(std::stoul(words.at(1))));
    asio::steady_timer timer{co_await asio::this_coro::executor};
    for (;;) {
      const Status done =
          co_await fleet::confer(client_, fleet::quota_key_of(words.at(2)), *quota_, clock_);
      if (!done && done.error().code() != Errc::timeout &&
          done.error().code() != Errc::unavailable) {
        co_return done.error();
      }
      while (quota_->used() > demand_) quota_->ended();
      while (quota_->used() < demand_ && quota_->admit(clock_.ticks())) continue;
      timer.expires_after(std::chrono::milliseconds{50});
      co_await timer.async_wait(async::kQuiet);
    }
  }

  // CELL NODE EPOCH TTL MILLISECONDS, until it is over.
  async::Task<std::string> enrol(Words words) {
    const auto number_at = [&words](std::size_t at) {
      return static_cast<std::uint32_t>(std::stoul(words.at(at)));
    };
    const fleet::NodeId node{static_cast<std::uint16_t>(number_at(1)), number_at(2)};
    const fleet::Registration::Rules rules{std::chrono::seconds{number_at(4)},
                                           std::chrono::milliseconds{number_at(5)}};
    said_.gauge.at.epoch = number_at(3);
    registration_.emplace(client_, node, number_at(3), rules, [this] {
      ++said_.gauge.at.seq;
      return said_;
    });
    CO_TRY_DO(co_await registration_->run());
    co_return "\"done\":true";
  }

  Client client_;
  fleet::Summary said_{.address = "127.0.0.1:7070", .gauge = {.slots = 100, .free = 100}};
  std::optional<fleet::Registration> registration_;
  SystemClock clock_;
  std::optional<fleet::CellQuota> quota_;
  std::uint64_t demand_ = 0;
  fleet::Roster roster_{{}, [](std::size_t) { return std::size_t{0}; }};
  std::map<std::string, OwnKey> owned_;
};

async::Task<void> serve(async::Scope& scope, Transport*& transport) {
  asio::posix::stream_descriptor input{co_await asio::this_coro::executor, ::dup(STDIN_FILENO)};
  Driver driver{*transport};
  std::string held;
  for (;;) {
    const auto [error, size] =
        co_await asio::async_read_until(input, asio::dynamic_buffer(held), '\n', async::kQuiet);
    if (error) break;
    std::istringstream line{held.substr(0, size)};
    held.erase(0, size);
    const Words words{std::istream_iterator<std::string>{line}, {}};
    if (words.size() > 1) scope.spawn(driver.run(words[0], Words{words.begin() + 1, words.end()}));
  }
  scope.cancel();
  co_await scope.join();  // they refer to the driver
  co_return Status{};
}

std::string content_of(const char* path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

int run(int argc, char** argv) {
  Cluster cluster;
  std::istringstream members{argv[1]};
  for (std::string one; std::getline(members, one, ',');) cluster.members.push_back(one);
  if (argc > 4)
    cluster.identity = Identity{content_of(argv[2]), content_of(argv[3]), content_of(argv[4])};
  asio::io_context loop{1};
  auto transport = Transport::create(loop.get_executor(), cluster);
  if (!transport) {
    std::cerr << transport.error().text() << '\n';
    return 1;
  }
  const auto done = async::block_on(loop, async::in_scope(serve, transport->get()));
  return done ? 0 : 1;
}

}  // namespace
}  // namespace cordon::etcd

int main(int argc, char** argv) { return argc < 2 ? 2 : cordon::etcd::run(argc, argv); }
