// SPDX-License-Identifier: Apache-2.0
// Any bytes as an answer of etcd: refused, or values; and a copy that is told them stays what its
// events say it is.
#include <cstddef>
#include <cstdint>
#include <string>

#include "etcd/codec.h"
#include "etcd/replica.h"
#include "promise.h"

namespace {

using cordon::fuzz::broken;

namespace etcd = cordon::etcd;

void replay(std::map<std::string, etcd::KeyValue>& told, const std::vector<etcd::Event>& events) {
  for (const etcd::Event& event : events) {
    if (event.kind == etcd::Event::Kind::put) {
      told.insert_or_assign(event.now.key, event.now);
    } else {
      told.erase(event.now.key);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes{reinterpret_cast<const char*>(data), size};
  static_cast<void>(etcd::decode_written(bytes));
  static_cast<void>(etcd::decode_removed(bytes));
  static_cast<void>(etcd::decode_granted(bytes));
  static_cast<void>(etcd::decode_kept_alive(bytes));
  const auto decided = etcd::decode_decided(bytes);
  if (decided && decided->answers.size() > size) broken("an answer has bytes of its own");

  etcd::Replica replica;
  std::map<std::string, etcd::KeyValue> told;
  if (auto found = etcd::decode_found(bytes)) {
    replay(told, replica.reset(std::move(found->values), found->origin.revision));
  }
  if (auto message = etcd::decode_watch(bytes)) {
    replay(told, replica.apply(std::move(message->events)));
  }
  if (told != replica.values()) broken("what is told leads to what is there");
  return 0;
}
