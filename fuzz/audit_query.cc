// SPDX-License-Identifier: Apache-2.0
// Any bytes as terms of a query, one a line: refused, or decided for every kind of record, and the
// opposite of a term accepts exactly what the term does not.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "audit/query.h"
#include "promise.h"

namespace {

namespace audit = cordon::audit;
using cordon::fuzz::broken;

template <std::size_t... I>
std::vector<audit::Record> one_of_each(std::index_sequence<I...> /*events*/) {
  std::vector<audit::Record> all;
  const auto add = [&](cordon::AuditEvent event) {
    all.push_back({.number = all.size(),
                   .time = {},
                   .ticks = 7,
                   .before = {},
                   .subject = {.tenant = "acme", .sandbox = "k7f3"},
                   .event = std::move(event),
                   .cuts = {}});
  };
  (add(std::variant_alternative_t<I, cordon::AuditEvent>{}), ...);
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<audit::Record> kRecords =
      one_of_each(std::make_index_sequence<std::variant_size_v<cordon::AuditEvent>>{});
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
  std::string_view rest{reinterpret_cast<const char*>(data), size};
  std::vector<std::string> terms;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    terms.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  const auto query = audit::Query::parse(terms);
  if (!query) return 0;
  for (const audit::Record& record : kRecords) {
    bool holds = true;
    for (const std::string& term : terms) {
      const auto alone = audit::Query::parse({{term}});
      if (!alone) broken("each term of a query is one");
      holds = holds && alone->accepts(record);
      const std::string opposite = term.starts_with('!') ? term.substr(1) : "!" + term;
      const auto other = audit::Query::parse({{opposite}});
      if (!other || other->accepts(record) == alone->accepts(record)) {
        broken("the opposite of a term accepts what it does not");
      }
    }
    if (query->accepts(record) != holds) broken("a query holds where all its terms do");
  }
  return 0;
}
