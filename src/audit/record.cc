// SPDX-License-Identifier: Apache-2.0
#include "audit/record.h"

#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "audit/canonical.h"
#include "audit/event_fields.h"
#include "base/bytes.h"

namespace cordon::audit {
namespace {

// Where a text of more than kLongestText ends instead: not in the middle of a character.
std::string_view beginning_of(std::string_view text) {
  std::size_t end = kLongestText;
  const auto is_inside = [&] { return (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80; };
  for (int back = 0; back < 3 && is_inside(); ++back) --end;
  return text.substr(0, is_inside() ? kLongestText : end);
}

class FieldWriter {
 public:
  FieldWriter(std::string& out, std::vector<Cut>& cuts, std::string_view within = {})
      : out_{out}, cuts_{cuts}, within_{within} {}

  void text(std::string_view name, const std::string& value) {
    key(name);
    if (value.size() <= kLongestText) {
      append_canonical(out_, value);
      return;
    }
    append_canonical(out_, beginning_of(value));
    std::string field{within_};
    if (!field.empty()) field += '.';
    cuts_.push_back({field.append(name), value.size(), to_hex(sha256({as_bytes(value)}))});
  }
  void some_text(std::string_view name, const std::string& value) {
    if (!value.empty()) text(name, value);
  }
  void number(std::string_view name, std::integral auto value) {
    key(name);
    out_ += std::to_string(value);
  }
  template <std::integral T>
  void some_number(std::string_view name, T value, T usual) {
    if (value != usual) number(name, value);
  }
  void flag(std::string_view name, bool value) {
    key(name);
    out_ += value ? "true" : "false";
  }
  template <class Choice>
  void choice(std::string_view name, Choice value, Choice /*last*/) {
    key(name);
    append_canonical(out_, to_string(value));
  }
  template <class Items, class Each>
  void list(std::string_view name, Items& items, const Each& each) {
    key(name);
    out_ += '[';
    bool is_first = true;
    for (auto& item : items) {
      if (!is_first) out_ += ',';
      is_first = false;
      std::string one;
      FieldWriter inner{one, cuts_, name};
      each(inner, item);
      out_ += '{' + std::move(one) + '}';
    }
    out_ += ']';
  }
  void texts(std::string_view name, const std::vector<std::string>& values) {
    if (values.empty()) return;
    key(name);
    out_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out_ += ',';
      append_canonical(out_, values[i]);
    }
    out_ += ']';
  }

 private:
  void key(std::string_view name) {
    if (!out_.empty()) out_ += ',';
    append_canonical(out_, name);
    out_ += ':';
  }

  std::string& out_;
  std::vector<Cut>& cuts_;
  std::string_view within_;
};

template <class Walk, Of<Cut> Field>
void walk_cut(Walk& walk, Field& cut) {
  walk.text("field", cut.field);
  walk.number("bytes", cut.bytes);
  walk.text("sha256", cut.sha256);
}

class FieldReader {
 public:
  explicit FieldReader(CanonicalReader& from) : from_{from} {}

  void text(std::string_view name, std::string& value) {
    key(name);
    value = from_.text();
  }
  void some_text(std::string_view name, std::string& value) {
    if (has(name)) value = from_.text();
  }
  template <std::integral T>
  void number(std::string_view name, T& value) {
    key(name);
    take(value);
  }
  template <std::integral T>
  void some_number(std::string_view name, T& value, T usual) {
    value = usual;
    if (has(name)) take(value);
  }
  void flag(std::string_view name, bool& value) {
    key(name);
    value = from_.flag();
  }
  template <class Choice>
  void choice(std::string_view name, Choice& value, Choice last) {
    key(name);
    const std::string text = from_.text();
    for (int i = 0; i <= static_cast<int>(last); ++i) {
      value = static_cast<Choice>(i);
      if (to_string(value) == text) return;
    }
    from_.fail();
  }
  template <class Item, class Each>
  void list(std::string_view name, std::vector<Item>& items, const Each& each) {
    key(name);
    from_.expect("[");
    while (!from_.failed() && !from_.take("]")) {
      if (!items.empty()) from_.expect(",");
      from_.expect("{");
      FieldReader inner{from_};
      each(inner, items.emplace_back());
      from_.expect("}");
    }
  }
  void texts(std::string_view name, std::vector<std::string>& values) {
    if (!has(name)) return;
    from_.expect("[");
    while (!from_.failed() && !from_.take("]")) {
      if (!values.empty()) from_.expect(",");
      values.push_back(from_.text());
    }
  }
  bool has(std::string_view name) {
    std::string spelled = is_first_ ? "\"" : ",\"";
    if (!from_.take(spelled.append(name).append("\":"))) return false;
    is_first_ = false;
    return true;
  }

 private:
  void key(std::string_view name) {
    if (!has(name)) from_.fail();
  }
  template <std::integral T>
  void take(T& value) {
    const std::uint64_t read = from_.number();
    if (read > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) from_.fail();
    value = static_cast<T>(read);
  }

  CanonicalReader& from_;
  bool is_first_ = true;
};

struct NameOf {
  std::string_view operator()(const PolicyAccepted& /*event*/) const { return "policy_accepted"; }
  std::string_view operator()(const SandboxStarted& /*event*/) const { return "sandbox_started"; }
  std::string_view operator()(const ActRefused& /*event*/) const { return "act_refused"; }
  std::string_view operator()(const NetworkUsed& event) const {
    return event.ended ? "connection_ended" : "connection_opened";
  }
  std::string_view operator()(const CredentialUsed& /*event*/) const { return "credential_used"; }
  std::string_view operator()(const FileMoved& event) const {
    if (event.is_tree) return event.is_written ? "tree_written" : "tree_read";
    return event.is_written ? "file_written" : "file_read";
  }
  std::string_view operator()(const RequestBegun& /*event*/) const { return "request_begun"; }
  std::string_view operator()(const ProgramStarted& /*event*/) const { return "program_started"; }
  std::string_view operator()(const FileTouched& /*event*/) const { return "file_touched"; }
  std::string_view operator()(const ConnectTried& /*event*/) const { return "connect_tried"; }
  std::string_view operator()(const ToolCalled& /*event*/) const { return "tool_called"; }
  std::string_view operator()(const ResponseTaken& /*event*/) const { return "response_taken"; }
  std::string_view operator()(const SandboxEnded& /*event*/) const { return "sandbox_ended"; }
  std::string_view operator()(const LogRecovered& /*event*/) const { return "log_recovered"; }
  std::string_view operator()(const RecordsLost& /*event*/) const { return "records_lost"; }
  std::string_view operator()(const RecordsDropped& /*event*/) const { return "records_dropped"; }
  std::string_view operator()(const PolicyReleased& /*event*/) const { return "policy_released"; }
};

// What the name of its kind says of an event: all but its fields.
std::optional<AuditEvent> begin_event(std::string_view name) {
  static const std::array<AuditEvent, 21> kKinds{
      PolicyAccepted{},
      SandboxStarted{},
      ActRefused{},
      NetworkUsed{},
      NetworkUsed{.ended = true},
      CredentialUsed{},
      FileMoved{},
      FileMoved{.is_written = true},
      FileMoved{.is_tree = true},
      FileMoved{.is_tree = true, .is_written = true},
      RequestBegun{},
      ProgramStarted{},
      FileTouched{},
      ConnectTried{},
      ToolCalled{},
      ResponseTaken{},
      SandboxEnded{},
      LogRecovered{},
      RecordsLost{},
      RecordsDropped{},
      PolicyReleased{},
  };
  for (const AuditEvent& kind : kKinds) {
    if (name_of(kind) == name) return kind;
  }
  return std::nullopt;
}

std::string body_of(const Subject& subject, const AuditEvent& event, std::vector<Cut> cuts) {
  std::string body;
  FieldWriter writer{body, cuts};
  writer.some_text("tenant", subject.tenant);
  writer.some_text("sandbox", subject.sandbox);
  writer.text("event", std::string{name_of(event)});
  std::visit([&](const auto& one) { fields(writer, one); }, event);
  if (!cuts.empty()) {
    std::vector<Cut> none;
    FieldWriter last{body, none};
    last.list("cut", std::as_const(cuts), [](auto& inner, auto& cut) { walk_cut(inner, cut); });
  }
  return body + '}';
}

void read_subject_and_event(CanonicalReader& from, Record& record) {
  FieldReader reader{from};
  reader.some_text("tenant", record.subject.tenant);
  reader.some_text("sandbox", record.subject.sandbox);
  std::string name;
  reader.text("event", name);
  std::optional<AuditEvent> event = begin_event(name);
  if (!event) {
    from.fail();
    return;
  }
  std::visit([&](auto& one) { fields(reader, one); }, *event);
  record.event = *std::move(event);
  if (!from.take("}")) {
    reader.list("cut", record.cuts, [](auto& inner, auto& cut) { walk_cut(inner, cut); });
    from.expect("}");
  }
}

}  // namespace

std::string_view name_of(const AuditEvent& event) { return std::visit(NameOf{}, event); }

std::string encode_body(const Subject& subject, const AuditEvent& event) {
  return body_of(subject, event, {});
}

std::string encode_front(std::uint64_t number, WallTime time, std::uint64_t ticks,
                         const Digest& before) {
  std::string front;
  front.reserve(160);
  front.append(R"({"seq":)").append(std::to_string(number));
  front.append(R"(,"time_ms":)").append(std::to_string(time.time_since_epoch().count()));
  front.append(R"(,"ticks_us":)").append(std::to_string(ticks));
  front.append(R"(,"prev":")").append(to_hex(before)).append(R"(",)");
  return front;
}

std::string encode(const Record& record) {
  return encode_front(record.number, record.time, record.ticks, record.before) +
         body_of(record.subject, record.event, record.cuts);
}

Result<Record> decode(std::string_view line) {
  Record record;
  CanonicalReader from{line};
  from.expect(R"({"seq":)");
  record.number = from.number();
  from.expect(R"(,"time_ms":)");
  record.time = WallTime{std::chrono::milliseconds{from.number()}};
  from.expect(R"(,"ticks_us":)");
  record.ticks = from.number();
  from.expect(R"(,"prev":")");
  from.hex(record.before);
  from.expect(R"(",)");
  read_subject_and_event(from, record);
  // Whatever else could be read in two ways was written in one.
  if (!from.is_done() || encode(record) != line) {
    return Error{Errc::invalid, "audit record: not in the encoding of version 1"};
  }
  return record;
}

}  // namespace cordon::audit
