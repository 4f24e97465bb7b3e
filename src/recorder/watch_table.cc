// SPDX-License-Identifier: Apache-2.0
#include "recorder/watch_table.h"

#include <atomic>

#include "recorder/kernel/layout.h"

namespace cordon::recorder {
namespace {

constexpr std::size_t kPlaces = std::size_t{CORDON_ROWS} * CORDON_ROW_PLACES;

// Read by every processor at any time.
std::uint64_t load(const unsigned long long& word) {
  return std::atomic_ref{const_cast<unsigned long long&>(word)}.load(std::memory_order_acquire);
}
void store(unsigned long long& word, std::uint64_t value) {
  std::atomic_ref{word}.store(value, std::memory_order_release);
}

std::size_t room_in(const cordon_watched& table, std::size_t row) {
  std::size_t room = 0;
  for (std::size_t i = 0; i < CORDON_ROW_PLACES; ++i) room += load(table.groups[row + i]) == 0;
  return room;
}

}  // namespace

Result<WatchTable> WatchTable::open(const os::Fd& memory) {
  TRY(os::Mapping mapped,
      os::Mapping::of(memory, 0, sizeof(cordon_watched), os::Mapping::Access::write));
  return WatchTable{std::move(mapped)};
}

cordon_watched& WatchTable::table() const {
  return *reinterpret_cast<cordon_watched*>(memory_.bytes().data());
}

std::optional<std::size_t> WatchTable::find(std::uint64_t group) const {
  for (const unsigned which : {0U, 1U}) {
    const std::size_t row = std::size_t{cordon_row(group, which)} * CORDON_ROW_PLACES;
    for (std::size_t place = row; place < row + CORDON_ROW_PLACES; ++place) {
      if (load(table().groups[place]) == group) return place;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> WatchTable::find_room(std::uint64_t group) const {
  const std::size_t one = std::size_t{cordon_row(group, 0)} * CORDON_ROW_PLACES;
  const std::size_t two = std::size_t{cordon_row(group, 1)} * CORDON_ROW_PLACES;
  const std::size_t row = room_in(table(), one) >= room_in(table(), two) ? one : two;
  for (std::size_t place = row; place < row + CORDON_ROW_PLACES; ++place) {
    if (load(table().groups[place]) == 0) return place;
  }
  return std::nullopt;
}

std::vector<WatchTable::Watched> WatchTable::all() const {
  std::vector<Watched> found;
  for (std::size_t place = 0; place < kPlaces; ++place) {
    const std::uint64_t group = load(table().groups[place]);
    if (group != 0) found.push_back({group, load(table().watches[place].tag)});
  }
  return found;
}

Status WatchTable::watch(std::uint64_t group, const Watch& wanted) {
  if (group == 0) return Error{Errc::invalid, "monitor: a control group has a number"};
  const auto known = find(group);
  const auto place = known ? known : find_room(group);
  if (!place) return Error{Errc::exhausted, "monitor: too many sandboxes are watched"};
  cordon_watch& watch = table().watches[*place];
  if (!known) watch = {};
  store(watch.tag, wanted.tag);
  store(watch.classes, wanted.classes);
  store(watch.per_second, wanted.per_second);
  store(table().groups[*place], group);  // last: from here on it is seen
  return {};
}

Untold WatchTable::untold(std::uint64_t group) const {
  const auto place = find(group);
  if (!place) return {};
  const cordon_watch& watch = table().watches[*place];
  return {.over = load(watch.over), .lost = load(watch.lost)};
}

Untold WatchTable::forget(std::uint64_t group) {
  const auto place = find(group);
  if (!place) return {};
  store(table().groups[*place], 0);
  const cordon_watch& watch = table().watches[*place];
  return {.over = load(watch.over), .lost = load(watch.lost)};
}

}  // namespace cordon::recorder
