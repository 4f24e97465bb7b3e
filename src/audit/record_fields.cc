// SPDX-License-Identifier: Apache-2.0
#include "audit/record_fields.h"

#include <algorithm>

#include "audit/event_fields.h"

namespace cordon::audit {
namespace {

class FieldCollector {
 public:
  explicit FieldCollector(std::vector<RecordField>& into, std::string_view within = {})
      : into_{into}, within_{within} {}

  void text(std::string_view name, const std::string& value) { add(name, value); }
  void some_text(std::string_view name, const std::string& value) {
    if (!value.empty()) add(name, value);
  }
  void number(std::string_view name, std::integral auto value) {
    add(name, static_cast<std::uint64_t>(value));
  }
  template <std::integral T>
  void some_number(std::string_view name, T value, T usual) {
    if (value != usual) number(name, value);
  }
  void flag(std::string_view name, bool value) { add(name, std::string{value ? "true" : "false"}); }
  template <class Choice>
  void choice(std::string_view name, Choice value, Choice /*last*/) {
    add(name, std::string{to_string(value)});
  }
  template <class Items, class Each>
  void list(std::string_view name, Items& items, const Each& each) {
    FieldCollector inner{into_, name};
    for (auto& item : items) each(inner, item);
  }
  void texts(std::string_view name, const std::vector<std::string>& values) {
    for (const std::string& value : values) add(name, value);
  }

 private:
  void add(std::string_view name, std::variant<std::string, std::uint64_t> value) {
    into_.push_back({std::string{within_.empty() ? name : within_}, std::move(value)});
  }

  std::vector<RecordField>& into_;
  std::string_view within_;
};

// Gives the names only, of fields that are empty as well.
class NameCollector {
 public:
  explicit NameCollector(std::vector<std::string>& into) : into_{into} {}
  void text(std::string_view name, const std::string& /*value*/) { into_.emplace_back(name); }
  void some_text(std::string_view name, const std::string& /*value*/) { into_.emplace_back(name); }
  void number(std::string_view name, std::integral auto /*value*/) { into_.emplace_back(name); }
  template <std::integral T>
  void some_number(std::string_view name, T /*value*/, T /*usual*/) {
    into_.emplace_back(name);
  }
  void flag(std::string_view name, bool /*value*/) { into_.emplace_back(name); }
  template <class Choice>
  void choice(std::string_view name, Choice /*value*/, Choice /*last*/) {
    into_.emplace_back(name);
  }
  template <class Items, class Each>
  void list(std::string_view name, Items& /*items*/, const Each& /*each*/) {
    into_.emplace_back(name);
  }
  void texts(std::string_view name, const std::vector<std::string>& /*values*/) {
    into_.emplace_back(name);
  }

 private:
  std::vector<std::string>& into_;
};

template <class Event>
Event with_all_fields() {
  Event event;
  if constexpr (std::same_as<Event, NetworkUsed>) event.ended = true;
  return event;
}

template <std::size_t... I>
std::vector<std::string> all_names(std::index_sequence<I...> /*events*/) {
  std::vector<std::string> names{"seq", "time_ms", "tenant", "sandbox", "event"};
  NameCollector collector{names};
  const auto add = [&](const auto& event) { fields(collector, event); };
  (add(with_all_fields<std::variant_alternative_t<I, AuditEvent>>()), ...);
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

}  // namespace

std::vector<RecordField> fields_of(const Record& record) {
  std::vector<RecordField> all;
  FieldCollector collector{all};
  collector.number("seq", record.number);
  collector.number("time_ms", record.time.time_since_epoch().count());
  collector.some_text("tenant", record.subject.tenant);
  collector.some_text("sandbox", record.subject.sandbox);
  collector.text("event", std::string{name_of(record.event)});
  std::visit([&](const auto& event) { fields(collector, event); }, record.event);
  return all;
}

const std::vector<std::string>& known_fields() {
  static const std::vector<std::string> kNames =
      all_names(std::make_index_sequence<std::variant_size_v<AuditEvent>>{});
  return kNames;
}

}  // namespace cordon::audit
