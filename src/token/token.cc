// SPDX-License-Identifier: Apache-2.0
#include "token/token.h"

#include <algorithm>
#include <utility>

namespace cordon::token {
namespace {

template <class T>
bool has(std::span<const Caveat> caveats) {
  return std::ranges::any_of(
      caveats, [](const Caveat& caveat) { return std::holds_alternative<T>(caveat); });
}

// Writes the token that `tag` and `caveats` make once all of `more` are behind them.
Result<std::string> extend(Bytes header, std::vector<Bytes> caveats, Secret tag,
                           std::span<const Caveat> more) {
  if (caveats.size() + more.size() > kMostCaveats)
    return Error{Errc::exhausted, "a token has at most 32 caveats"};
  std::vector<std::vector<std::byte>> encoded;
  encoded.reserve(more.size());  // `caveats` refers to what it holds
  for (const Caveat& caveat : more) {
    TRY(auto bytes, encode(caveat));
    tag = next_tag(tag, bytes);
    caveats.emplace_back(encoded.emplace_back(std::move(bytes)));
  }
  return write_token(header, caveats, tag);
}

Error no_token(Error error) { return std::move(error).with("not a token of Cordon"); }

}  // namespace

Result<std::string> mint(const AudienceKey& key, std::span<const std::byte, kIdSize> random,
                         const Minted& minted) {
  if (!minted.is_operator && !has<TenantIs>(minted.caveats))
    return Error{Errc::invalid, "a token needs a tenant, unless it is an operator's"};
  if (!minted.is_operator && !has<ExpiresAt>(minted.caveats))
    return Error{Errc::invalid, "a token needs an expiry, unless it is an operator's"};
  const auto header = write_header({.is_operator = minted.is_operator,
                                    .key_number = key.number(),
                                    .audience = key.audience(),
                                    .id = random});
  return extend(header, {}, first_tag(key.secret(), header), minted.caveats);
}

Result<std::string> attenuate(std::string_view text, std::span<const Caveat> caveats) {
  auto bytes = token_bytes(text);
  if (!bytes) return no_token(std::move(bytes).error());
  auto layout = read_layout(*bytes);
  if (!layout) return no_token(std::move(layout).error());
  const auto own = layout->caveats();
  return extend(layout->header_bytes, {own.begin(), own.end()}, Secret{layout->tag}, caveats);
}

Result<Contents> read(std::string_view text) {
  auto bytes = token_bytes(text);
  if (!bytes) return no_token(std::move(bytes).error());
  auto layout = read_layout(*bytes);
  if (!layout) return no_token(std::move(layout).error());
  Contents contents{.audience = std::string{layout->header.audience},
                    .key_number = layout->header.key_number,
                    .is_operator = layout->header.is_operator,
                    .revocation = revocation_id(layout->tag)};
  for (const Bytes each : layout->caveats()) {
    auto caveat = decode_caveat(each);
    if (!caveat) return no_token(std::move(caveat).error());
    contents.caveats.push_back(*std::move(caveat));
  }
  return contents;
}

}  // namespace cordon::token
