// SPDX-License-Identifier: Apache-2.0
#include "fleet/way.h"

#include <array>
#include <string_view>

#include "gate/named_sandbox.h"

namespace cordon::fleet {
namespace {

using Kind = Way::Kind;

struct Row {
  std::string_view method;  // empty: any
  std::string_view path;
  Kind kind;
  bool is_below = false;  // the path itself and all below it
};

// The first that fits.
constexpr std::array kRows = {
    Row{"POST", "/v1/run", Kind::create},
    Row{"POST", "/v1/sandboxes", Kind::create},
    Row{"GET", "/v1/sandboxes", Kind::sandboxes},
    Row{"GET", "/v1/events", Kind::events},
    Row{"GET", "/v1/audit", Kind::one},
    Row{"GET", "/v1/secrets", Kind::home},
    Row{"PUT", "/v1/secrets", Kind::all, true},
    Row{"DELETE", "/v1/secrets", Kind::all, true},
    Row{"", "/v1/health", Kind::own},
    Row{"", "/v1/node", Kind::own, true},
    Row{"", "/metrics", Kind::own},
    Row{"", "/v1/fleet", Kind::own, true},
    Row{"", "/v1/keys", Kind::own, true},
    Row{"", "/v1/tokens", Kind::own, true},
};

constexpr std::array kE2bRows = {
    Row{"POST", "/sandboxes", Kind::create},    Row{"POST", "/v2/sandboxes", Kind::create},
    Row{"GET", "/sandboxes", Kind::sandboxes},  Row{"GET", "/v2/sandboxes", Kind::sandboxes},
    Row{"", "/templates", Kind::home, true},    Row{"", "/v2/templates", Kind::home, true},
    Row{"", "/v3/templates", Kind::home, true}, Row{"", gate::kSignedPath, Kind::nowhere},
};

bool fits(const Row& row, const http::RequestHead& head) {
  const std::string_view path = head.target.path;
  if (!row.method.empty() && row.method != head.method) return false;
  if (path == row.path) return true;
  return row.is_below && path.starts_with(row.path) && path[row.path.size()] == '/';
}

// What stands behind `top` up to the next slash; empty: the path is not below it.
std::string_view segment_below(std::string_view path, std::string_view top) {
  if (!path.starts_with(top)) return {};
  path.remove_prefix(top.size());
  return path.substr(0, path.find('/'));
}

template <std::size_t N>
Kind kind_of(const std::array<Row, N>& rows, const http::RequestHead& head) {
  for (const Row& row : rows) {
    if (fits(row, head)) return row.kind;
  }
  return Kind::anywhere;
}

}  // namespace

Way way_of(const http::RequestHead& head) {
  if (const auto named = gate::named_sandbox(head)) {
    return {.kind = Kind::sandbox, .sandbox = named->sandbox, .is_e2b = true, .is_open = true};
  }
  const bool is_e2b = gate::is_for_e2b(head);
  const std::string_view path = head.target.path;
  for (const std::string_view top : {"/v1/sandboxes/", "/sandboxes/", "/v2/sandboxes/"}) {
    const std::string_view sandbox = segment_below(path, top);
    if (!sandbox.empty()) {
      return {.kind = Kind::sandbox, .sandbox = std::string{sandbox}, .is_e2b = is_e2b};
    }
  }
  const Kind kind = is_e2b ? kind_of(kE2bRows, head) : kind_of(kRows, head);
  return {.kind = kind, .sandbox = {}, .is_e2b = is_e2b};
}

}  // namespace cordon::fleet
