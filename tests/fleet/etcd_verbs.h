// SPDX-License-Identifier: Apache-2.0
// Commands of the driver that ask etcd.
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <string>

#include "etcd/client.h"
#include "etcd/codec.h"
#include "etcd/lease.h"
#include "etcd/mirror.h"
#include "etcd/own_key.h"
#include "etcd/sleep.h"
#include "etcd/watch.h"
#include "said.h"

namespace cordon::fleet_test {

class EtcdVerbs {
 public:
  explicit EtcdVerbs(etcd::Client& client) : client_{client} {}

  // Their words stand above each.
  static constexpr auto verbs() {
    using V = EtcdVerbs;
    return std::to_array<Verb<V>>({{"get", &V::get},
                                   {"get_at", &V::get_at},
                                   {"below", &V::below},
                                   {"put", &V::put},
                                   {"remove", &V::remove},
                                   {"replace", &V::replace},
                                   {"grant", &V::grant},
                                   {"revoke", &V::revoke},
                                   {"keep", &V::keep},
                                   {"own", &V::own},
                                   {"watch", &V::watch},
                                   {"abandon", &V::abandon},
                                   {"mirror", &V::mirror}});
  }

 private:
  using Said = async::Task<std::string>;
  using Client = etcd::Client;

  static etcd::LeaseId lease_of(const Words& words, std::size_t at) {
    return at < words.size() ? etcd::LeaseId{std::stoll(words[at])} : etcd::LeaseId::none;
  }

  Said find(etcd::Range range, Client::Limit limit) {
    CO_TRY(const etcd::Found found, co_await client_.range(std::move(range), limit));
    co_return revision_of(found.origin) + ",\"found\":" + listed(found.values);
  }

  // KEY [MILLISECONDS]
  Said get(std::string /*number*/, Words words) {
    const Client::Limit limit =
        words.size() > 2 ? Client::Limit{std::stoll(words[2])} : Client::kLimit;
    co_return co_await find({.keys = etcd::only(words[1])}, limit);
  }
  // KEY REVISION
  Said get_at(std::string /*number*/, Words words) {
    co_return co_await find({.keys = etcd::only(words[1]), .at = std::stoll(words[2])},
                            Client::kLimit);
  }
  // PREFIX
  Said below(std::string /*number*/, Words words) {
    co_return co_await find({.keys = etcd::below(words[1])}, Client::kLimit);
  }

  // KEY VALUE [LEASE]
  Said put(std::string /*number*/, Words words) {
    etcd::Put put{.key = words[1], .value = words[2], .lease = lease_of(words, 3)};
    CO_TRY(const etcd::Written written, co_await client_.put(std::move(put), Client::Limit{1000}));
    co_return revision_of(written.origin);
  }
  // PREFIX
  Said remove(std::string /*number*/, Words words) {
    CO_TRY(const etcd::Removed removed, co_await client_.remove({.keys = etcd::below(words[1])}));
    co_return "\"removed\":" + std::to_string(removed.count);
  }
  // KEY REVISION VALUE
  Said replace(std::string /*number*/, Words words) {
    etcd::Txn txn{
        .when = {{.key = words[1], .than = etcd::Compare::ModRevision{std::stoll(words[2])}}},
        .then = {etcd::Put{.key = words[1], .value = words[3]}},
        .otherwise = {etcd::Range{.keys = etcd::only(words[1])}}};
    CO_TRY(const etcd::Decided decided, co_await client_.txn(std::move(txn)));
    std::string said =
        revision_of(decided.origin) + ",\"held\":" + (decided.held ? "true" : "false");
    if (!decided.held) {
      said += ",\"found\":" + listed(std::get<etcd::Found>(decided.answers.at(0)).values);
    }
    co_return said;
  }

  // SECONDS [LEASE]
  Said grant(std::string /*number*/, Words words) {
    const etcd::LeaseId id = words.size() > 2 ? lease_of(words, 2) : etcd::fresh_lease_id();
    CO_TRY_DO(co_await client_.grant(id, std::chrono::seconds{std::stoll(words[1])}));
    co_return "\"lease\":" + std::to_string(std::to_underlying(id));
  }
  // LEASE
  Said revoke(std::string /*number*/, Words words) {
    CO_TRY_DO(co_await client_.revoke(lease_of(words, 1)));
    co_return kDone;
  }
  // LEASE SECONDS
  Said keep(std::string number, Words words) {
    CO_TRY_DO(co_await etcd::keep_alive(client_, lease_of(words, 1),
                                        std::chrono::seconds{std::stoll(words[2])},
                                        [number](Ticks) { say(number, "\"kept\":true"); }));
    co_return kDone;
  }

  // KEY VALUE LEASE REPLACE: with "any" another's value may be replaced, with "none" not.
  Said own(std::string /*number*/, Words words) {
    const bool any = words.at(4) == "any";
    const auto may_replace = [any](const etcd::KeyValue&) { return any; };
    etcd::OwnKey& key = owned_.try_emplace(words[1], client_, words[1], may_replace).first->second;
    CO_TRY_DO(co_await key.write(words[2], lease_of(words, 3), Client::Limit{20'000}));
    co_return "\"revision\":" + std::to_string(key.revision());
  }

  // PREFIX [REVISION]
  Said watch(std::string number, Words words) {
    const etcd::KeyRange keys = etcd::below(words[1]);
    CO_TRY(const etcd::Found now, co_await client_.range({.keys = keys, .limit = 1}));
    const etcd::Revision from = words.size() > 2 ? std::stoll(words[2]) : now.origin.revision + 1;
    etcd::Watch watch{client_, keys, from, now.origin.cluster};
    say(number, "\"from\":" + std::to_string(from));
    for (;;) {
      CO_TRY(const etcd::Watch::Batch batch, co_await watch.next());
      say(number, revision_of(batch.origin) + ",\"events\":" + listed(batch.events));
    }
  }
  // KEY: a stream that goes while a message of it waits to be read.
  Said abandon(std::string /*number*/, Words words) {
    const Client::Opened opened = client_.open("/etcdserverpb.Watch/Watch");
    opened.stream->write(etcd::encode_watch(etcd::only(words[1]), 1));
    co_await etcd::sleep(std::chrono::milliseconds{300});
    co_return kDone;
  }
  // PREFIX
  Said mirror(std::string number, Words words) {
    etcd::Mirror mirror{client_, words[1], [number](const std::vector<etcd::Event>& events) {
                          say(number, "\"events\":" + listed(events));
                        }};
    CO_TRY_DO(co_await mirror.run());
    co_return kDone;
  }

  etcd::Client& client_;
  std::map<std::string, etcd::OwnKey> owned_;
};

}  // namespace cordon::fleet_test
