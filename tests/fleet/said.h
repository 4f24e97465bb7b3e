// SPDX-License-Identifier: Apache-2.0
// What the driver writes: a line of JSON for each thing that it has to say.
#pragma once

#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.h"
#include "base/log.h"
#include "etcd/values.h"

namespace cordon::fleet_test {

using Words = std::vector<std::string>;

inline const std::string kDone = "\"done\":true";

// Values of `fields` are JSON already.
inline void say(const std::string& number, const std::string& fields) {
  std::cout << "{\"number\":" << number << ',' << fields << "}\n" << std::flush;
}

inline std::string in_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

inline std::string shown(const etcd::KeyValue& kv) {
  return "{\"key\":" + in_json(kv.key) + ",\"value\":" + in_json(kv.value) +
         ",\"revision\":" + std::to_string(kv.mod_revision) +
         ",\"lease\":" + std::to_string(std::to_underlying(kv.lease)) + "}";
}

inline std::string shown(const etcd::Event& event) {
  const bool is_put = event.kind == etcd::Event::Kind::put;
  return std::string{"{\"kind\":"} + (is_put ? "\"put\"" : "\"removed\"") +
         ",\"now\":" + shown(event.now) + "}";
}

template <class Value>
std::string listed(const std::vector<Value>& values) {
  std::string out = "[";
  for (const Value& value : values) out.append(out.size() == 1 ? "" : ",").append(shown(value));
  return out + "]";
}

inline std::string revision_of(const etcd::Origin& origin) {
  return "\"revision\":" + std::to_string(origin.revision);
}

// A command: its number, its words from its name on, and what it says at its end.
template <class Of>
struct Verb {
  std::string_view name;
  async::Task<std::string> (Of::*act)(std::string number, Words words);
};

}  // namespace cordon::fleet_test
