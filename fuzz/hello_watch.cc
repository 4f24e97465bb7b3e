// SPDX-License-Identifier: Apache-2.0
// Any bytes of a client behind its first hello, and of its server (the first byte says where one
// ends and the other begins): the verdict is the same however they are cut, and no hello in clear
// for another name passes.
#include "egress/hello_watch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "promise.h"

namespace {

using cordon::fuzz::broken;

namespace egress = cordon::egress;
using Bytes = std::span<const std::byte>;

constexpr std::string_view kName = "a.example";

struct Outcome {
  std::optional<egress::HelloRefusal> refusal;
  bool over = false;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome watch(Bytes server, Bytes client, std::size_t chunk) {
  egress::HelloWatch watch{std::string{kName}};
  while (!server.empty()) {
    const Bytes piece = server.first(std::min(chunk, server.size()));
    server = server.subspan(piece.size());
    watch.from_server(piece);
  }
  std::optional<egress::HelloRefusal> refusal;
  while (!client.empty()) {
    const Bytes piece = client.first(std::min(chunk, client.size()));
    client = client.subspan(piece.size());
    refusal = watch.from_client(piece);
  }
  return {refusal, watch.is_over()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes all = std::as_bytes(std::span{data + 1, size - 1});
  const Bytes server = all.first(std::min<std::size_t>(data[0], all.size()));
  const Bytes client = all.subspan(server.size());
  const Outcome whole = watch(server, client, size);
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{3}, std::size_t{50}}) {
    if (watch(server, client, chunk) != whole) broken("bytes are judged alike however they arrive");
  }
  if (whole.over && whole.refusal) broken("a refusal is no end of the watch");

  // A client that goes on with a hello, to a server that has not answered.
  egress::HelloPeeker peeker;
  const auto& verdict = peeker.push(client);
  if (const auto* const hello = std::get_if<egress::ClientHello>(&verdict)) {
    const bool passes = !judge_hello(*hello, kName);
    if (passes == watch({}, client, size).refusal.has_value())
      broken("a second hello is judged like the first");
  }
  return 0;
}
