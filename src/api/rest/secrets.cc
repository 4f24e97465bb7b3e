// SPDX-License-Identifier: Apache-2.0
// Secrets of a tenant: put, listed by their names, deleted; never read. They are passed on to the
// tenant's broker, and lie here no longer than that takes.
#include <algorithm>

#include <fmt/format.h>

#include "api/rest/rest.h"
#include "api/rest/shown.h"
#include "node/sandbox_ids.h"
#include "wire/json_writer.h"

namespace cordon::api {
namespace {

constexpr std::size_t kLongestSecret = std::size_t{64} << 10U;
constexpr std::size_t kLongestName = 64;

// As it stands behind `secret:` in a policy, and in a path.
Result<std::string> name_of(const Call& call) {
  const std::string& name = call.places.front();
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (name.size() <= kLongestName && std::ranges::all_of(name, fits)) return name;
  return Error{
      Errc::invalid,
      fmt::format("a secret's name has 1 to {} of a-z, A-Z, 0-9, -, _ and .", kLongestName)};
}

// Into memory that is wiped, also where it is thrown out.
async::Task<WipedBytes> read_secret(http::Exchange& exchange) {
  WipedBytes secret(kLongestSecret + 1);
  std::size_t size = 0;
  while (size < secret.size()) {
    const std::span<char> room{reinterpret_cast<char*>(secret.data()) + size, secret.size() - size};
    CO_TRY(const std::size_t count, co_await exchange.read_some(room));
    if (count == 0) break;
    size += count;
  }
  if (size == 0 || size > kLongestSecret) {
    co_return Error{Errc::invalid, "the body is the secret: 1 byte to 64 KiB"};
  }
  // It goes into a header: what cannot stand there would be of no use, and is told now.
  const auto is_control = [](std::byte byte) {
    return byte < std::byte{' '} || byte == std::byte{0x7f};
  };
  secret.resize(size);
  if (std::ranges::any_of(secret, is_control)) {
    co_return Error{Errc::invalid,
                    "a secret goes into a header of HTTP: it has no newline and no other control "
                    "character; send it without the newline at its end"};
  }
  co_return secret;
}

}  // namespace

async::Task<void> Rest::put_secret(Call& call) {
  CO_TRY_DO(only_known(call, {}));
  CO_TRY(std::string name, name_of(call));
  CO_TRY(WipedBytes secret, co_await read_secret(call.exchange));
  node::TenantBroker& broker = parts_.brokers.of(node::launcher_name_of(owner_of(call)));
  CO_TRY_DO(co_await broker.put(std::move(name), std::move(secret)));
  co_return co_await answer_nothing(call);
}

async::Task<void> Rest::list_secrets(Call& call) {
  CO_TRY_DO(only_known(call, {}));
  node::TenantBroker& broker = parts_.brokers.of(node::launcher_name_of(owner_of(call)));
  CO_TRY(const std::vector<std::string> names, co_await broker.names());
  wire::JsonWriter json;
  json.begin_object();
  json.key("secrets");
  json.begin_array();
  for (const std::string& name : names) {
    json.begin_object();
    json.text("name", name);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  co_return co_await answer_json(call, 200, json.take());
}

async::Task<void> Rest::delete_secret(Call& call) {
  CO_TRY_DO(only_known(call, {}));
  CO_TRY(std::string name, name_of(call));
  // Before it is gone: a sandbox that has a grant of it must not find another of that name later.
  CO_TRY_DO(co_await parts_.residents.forget_secret(owner_of(call), name));
  node::TenantBroker& broker = parts_.brokers.of(node::launcher_name_of(owner_of(call)));
  CO_TRY(const bool was_there, co_await broker.drop(std::move(name)));
  if (!was_there) co_return Error{Errc::not_found, "there is no such secret"};
  co_return co_await answer_nothing(call);
}

}  // namespace cordon::api
