// SPDX-License-Identifier: Apache-2.0
// What the node has, whole and then as it changes: for the index of its cell.
#include <algorithm>

#include <fmt/format.h>

#include "api/rest/rest.h"
#include "api/rest/shown.h"
#include "wire/json_writer.h"

namespace cordon::api {
namespace {

// Between two signs of life, where nothing changes.
constexpr std::chrono::milliseconds kSign{1000};
constexpr std::size_t kMostAtOnce = 64;

std::string with_unit(const node::Census::Resident& resident) {
  return resident.unit ? fmt::format(R"(,"unit":"{}")", wire::to_text(*resident.unit))
                       : std::string{};
}

// `key`: "id" of one that is made, or runs one command; "gone".
std::string name_line(const node::Census::Resident& resident, std::string_view key) {
  wire::JsonWriter json;
  json.begin_object();
  json.text(key, resident.id);
  json.text("tenant", resident.tenant);
  if (resident.is_build) json.boolean("build", true);
  if (resident.unit) json.text("unit", wire::to_text(*resident.unit));
  json.end_object();
  return json.take() + "\n";
}

std::string census_line(const Rest::Parts& parts, const node::Census::Resident& resident) {
  if (resident.is_gone) return name_line(resident, "gone");
  const auto id = SandboxId::parse(resident.id);
  const auto living = id ? parts.residents.find(*id) : nullptr;
  if (!living) return name_line(resident, "id");
  const std::string e2b = parts.e2b_row(*living);
  return fmt::format("{{\"sandbox\":{}{}{}{}{}}}\n", wire::to_json(shown(*living)),
                     e2b.empty() ? "" : ",\"e2b\":", e2b, with_unit(resident),
                     resident.is_build ? ",\"build\":true" : "");
}

}  // namespace

async::Task<void> Rest::stream_census(Call& call) {
  CO_TRY_DO(only_known(call, {"index"}));
  CO_TRY(const auto index, number_of(call, "index"));
  if (index == 0U) co_return Error{Errc::invalid, "query: `index` is at least 1"};
  if (index) {
    CO_TRY_DO(parts_.census.begin_index(*index));
  }
  CO_TRY_DO(co_await call.exchange.begin(200, stream_fields(call, "application/x-ndjson")));
  const std::uint64_t began = parts_.census.last();
  std::uint64_t told = 0;
  while (!call.exchange.is_draining()) {
    // Another has begun to read since: this one is not to act any more.
    if (index && !parts_.census.begin_index(*index)) break;
    // Who has fallen so far behind begins anew. What was gone before it began it need not hear of.
    if (parts_.census.forgotten() > std::max(told, began)) break;
    std::string lines;
    for (const auto& [number, resident] : parts_.census.behind(told, kMostAtOnce)) {
      lines += census_line(parts_, *resident);
      told = number;
    }
    const bool is_whole = told == parts_.census.last();
    if (is_whole) {
      const node::Room::Gauge gauge = node::gauge_of(parts_.room, parts_.census);
      lines += fmt::format("{{\"at\":\"{} {}\"}}\n", gauge.start, gauge.seq);
    }
    CO_TRY_DO(co_await call.exchange.write(lines));
    if (is_whole && told == parts_.census.last()) {
      co_await parts_.census.news(Ticks::clock::now() + kSign);
    }
  }
  co_return co_await call.exchange.finish();
}

}  // namespace cordon::api
