// SPDX-License-Identifier: Apache-2.0
#include "broker/grants.h"

#include <algorithm>
#include <chrono>

#include "frame/placeholder.h"
#include "policy/header_template.h"
#include "policy/host.h"

namespace cordon::broker {
namespace {

using frame::SecretVerdict;

constexpr std::uint16_t kHttps = 443;
// A year: more means a mistake, and would run over the clock's range.
constexpr std::uint64_t kLongestLife = std::uint64_t{366} * 24 * 3600;

bool is_method(std::string_view method) {
  return !method.empty() && std::ranges::all_of(method, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

// What the owner's own checks have let through already: a broker trusts no one's checks but its
// own.
Status check_binding(const frame::BindGrant& wanted) {
  const auto refused = [](const char* why) { return Error{Errc::invalid, why}; };
  if (wanted.sandbox.empty() || wanted.tenant.empty() || wanted.grant.empty()) {
    return refused("a grant needs a sandbox, a tenant and a name");
  }
  if (!wanted.placeholder.empty() && !frame::is_placeholder(wanted.placeholder)) {
    return refused("the placeholder is none of ours");
  }
  if (!policy::is_canonical_name(wanted.host)) return refused("the host is not one named host");
  if (wanted.port != kHttps) return refused("a secret goes to port 443 only");
  if (!std::ranges::all_of(wanted.methods, is_method)) return refused("a method is no method");
  for (const std::string& path : wanted.paths) TRY_DO(policy::check_url_pattern(path));
  if (wanted.ttl_seconds == 0 || wanted.ttl_seconds > kLongestLife) {
    return refused("the time that it holds is nothing, or more than a year");
  }
  if (wanted.requests_per_minute == std::uint32_t{0}) {
    return refused("no request in a minute is no grant");
  }
  return {};
}

}  // namespace

Status Grants::check_room(const Key& key, std::string_view tenant) {
  const auto of_sandbox = entries_.lower_bound(Key{key.sandbox, {}});
  if (of_sandbox != entries_.end() && of_sandbox->first.sandbox == key.sandbox &&
      of_sandbox->second.tenant != tenant) {
    return Error{Errc::exists, "the sandbox is another tenant's"};
  }
  if (entries_.contains(key) || entries_.size() < most_) return {};
  // What is no longer good makes room.
  const auto ended =
      std::ranges::find_if(entries_, [](const auto& e) { return e.second.state != State::good; });
  if (ended == entries_.end()) return Error{Errc::exhausted, "too many grants"};
  entries_.erase(ended);
  return {};
}

Status Grants::bind(const frame::BindGrant& wanted, Ticks now) {
  TRY_DO(check_binding(wanted));
  TRY(policy::HeaderTemplate header, policy::parse_header_template(wanted.header));
  TRY(Secret secret, Secret::create(header.value, wanted.secret.bytes));
  const Key key{wanted.sandbox, wanted.grant};
  TRY_DO(check_room(key, wanted.tenant));

  Entry entry{.tenant = wanted.tenant,
              .host = wanted.host,
              .port = wanted.port,
              .methods = wanted.methods,
              .paths = policy::UrlPaths{wanted.paths},
              .header = std::move(header.name),
              .stored = wanted.stored,
              .secret = std::move(secret),
              .expires = now + std::chrono::seconds{wanted.ttl_seconds}};
  if (wanted.requests_per_minute) entry.rate.emplace(*wanted.requests_per_minute);
  const auto old = entries_.find(key);
  if (old == entries_.end()) {
    entries_.emplace(key, std::move(entry));
    ++good_;
    return {};
  }
  const std::optional<MinuteWindow>& used = old->second.rate;
  if (used && entry.rate && used->most() == entry.rate->most()) entry.rate = used;
  if (old->second.state != State::good) ++good_;
  old->second = std::move(entry);
  return {};
}

void Grants::end(Entry& entry, State state) {
  if (entry.state == State::good) --good_;
  entry.state = state;
  entry.secret.reset();
}

template <class Meant>
std::vector<RevokedGrant> Grants::revoke_if(Meant meant) {
  std::vector<RevokedGrant> revoked;
  for (auto& [key, entry] : entries_) {
    if (!meant(key, entry) || entry.state == State::revoked) continue;
    if (entry.state == State::good) revoked.push_back({entry.tenant, key.sandbox, key.grant});
    end(entry, State::revoked);
  }
  return revoked;
}

std::vector<RevokedGrant> Grants::revoke(const frame::RevokeGrants& which) {
  const auto named = [](const std::string& name, const std::string& of) {
    return name.empty() || name == of;
  };
  return revoke_if([&](const Key& key, const Entry& entry) {
    return named(which.sandbox, key.sandbox) && named(which.grant, key.grant) &&
           named(which.tenant, entry.tenant);
  });
}

std::vector<RevokedGrant> Grants::revoke_stored(std::string_view tenant, std::string_view name) {
  return revoke_if([&](const Key& /*key*/, const Entry& entry) {
    return entry.tenant == tenant && entry.stored == name;
  });
}

std::optional<std::string_view> Grants::out_of_scope(const Entry& entry,
                                                     const frame::AskSecret& request) {
  if (entry.host != request.host) return "the grant is for another host";
  if (entry.port != request.port) return "the grant is for another port";
  if (!entry.methods.empty() &&
      std::ranges::find(entry.methods, request.method) == entry.methods.end()) {
    return "the grant does not list this method";
  }
  if (!policy::is_plain_url_path(request.path)) return "the path has an unusual spelling";
  if (!entry.paths.empty() && !entry.paths.covers(request.path)) {
    return "the grant does not list this path";
  }
  return std::nullopt;
}

std::variant<Allowed, Refusal> Grants::ask(std::string_view tenant, const frame::AskSecret& request,
                                           Ticks now) {
  const auto found = entries_.find(Key{request.sandbox, request.grant});
  // One answer for both: who asks must not learn what other tenants have.
  if (found == entries_.end() || found->second.tenant != tenant) {
    return Refusal{SecretVerdict::cred_unknown, "there is no such grant"};
  }
  Entry& entry = found->second;
  if (entry.state == State::good && now >= entry.expires) end(entry, State::expired);
  if (entry.state == State::revoked) {
    return Refusal{SecretVerdict::cred_revoked, "the grant was revoked"};
  }
  if (entry.state == State::expired || !entry.secret) {
    return Refusal{SecretVerdict::cred_expired, "the grant has expired"};
  }
  if (const auto why = out_of_scope(entry, request))
    return Refusal{SecretVerdict::cred_scope, *why};
  if (entry.rate && !entry.rate->take(now)) {
    return Refusal{SecretVerdict::cred_rate, "too many requests in a minute"};
  }
  return Allowed{entry.header, &*entry.secret};
}

std::optional<Ticks> Grants::expire(Ticks now) {
  std::optional<Ticks> next;
  for (auto& [key, entry] : entries_) {
    if (entry.state != State::good) continue;
    if (now >= entry.expires) {
      end(entry, State::expired);
    } else if (!next || entry.expires < *next) {
      next = entry.expires;
    }
  }
  return next;
}

}  // namespace cordon::broker
