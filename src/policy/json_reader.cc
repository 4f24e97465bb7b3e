// SPDX-License-Identifier: Apache-2.0
// JSON to a tree, through simdjson's on-demand interface: it alone tells where a value stands and
// shows every field, so that a duplicate key is seen. (Boost.JSON keeps the last of two and says
// nothing.)
#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_set>

#include <fmt/format.h>
#include <simdjson.h>

#include "policy/text.h"
#include "policy/value.h"

namespace cordon::policy {
namespace {

namespace od = simdjson::ondemand;

// Byte offsets to lines and columns; columns count bytes, as editors' "go to" does for ASCII.
class Marks {
 public:
  explicit Marks(std::string_view text) : begin_{text.data()} {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') line_starts_.push_back(i + 1);
    }
  }
  Mark at(const char* where) const {
    const auto offset = static_cast<std::size_t>(where - begin_);
    const auto next = std::ranges::upper_bound(line_starts_, offset);
    const auto line = next - line_starts_.begin();
    return {static_cast<std::uint32_t>(line), static_cast<std::uint32_t>(offset - *(next - 1) + 1)};
  }

 private:
  const char* begin_;
  std::vector<std::size_t> line_starts_{0};
};

// Leaves by the first error: after one, simdjson's iterator must not be used any more.
class Reader {
 public:
  Reader(const simdjson::padded_string& text, Problems& problems, Controls controls)
      : marks_{std::string_view{text}}, problems_{problems}, controls_{controls} {}

  // False: a problem was added and reading must end.
  bool value(od::value from, Value& to, int depth) {
    to.mark = marks_.at(from.raw_json_token().begin());
    if (depth > kDeepestValue)
      return fail(to.mark, fmt::format("nested deeper than {} levels", kDeepestValue));
    od::json_type type{};
    if (from.type().get(type) != simdjson::SUCCESS) return fail(to.mark, "expected a value");
    switch (type) {
      case od::json_type::object:
        return object(from, to, depth);
      case od::json_type::array:
        return array(from, to, depth);
      case od::json_type::string:
        return text(from, to);
      case od::json_type::number:
        return number(from, to);
      case od::json_type::boolean: {
        bool yes = false;
        if (from.get_bool().get(yes) != simdjson::SUCCESS)
          return fail(to.mark, "expected true or false");
        to.data = yes;
        return true;
      }
      case od::json_type::null:
        if (!is_null(from)) return fail(to.mark, "expected a value");
        to.data = std::monostate{};
        return true;
    }
    return fail(to.mark, "expected a value");
  }

  bool fail(Mark mark, std::string message) {
    problems_.add(mark, fmt::format("JSON: {}", message));
    return false;
  }

  const Marks& marks() const { return marks_; }

 private:
  static std::string too_many() {
    return fmt::format("more than {} items in one list or table", kMostItems);
  }

  static bool is_null(od::value from) {
    bool yes = false;
    return from.is_null().get(yes) == simdjson::SUCCESS && yes;
  }

  bool object(od::value from, Value& to, int depth) {
    od::object fields;
    if (from.get_object().get(fields) != simdjson::SUCCESS)
      return fail(to.mark, "malformed object");
    Value::Table entries;
    std::unordered_set<std::string> keys;  // a hostile object has thousands: no scan for each
    for (auto item : fields) {
      od::field field;
      if (std::move(item).get(field) != simdjson::SUCCESS) {
        return fail(last_mark(entries, to.mark),
                    "malformed object: expected `,` or `}` and then a key in quotes");
      }
      const Mark mark = marks_.at(field.key().raw() - 1);
      std::string_view key;
      if (field.unescaped_key().get(key) != simdjson::SUCCESS) return fail(mark, "malformed key");
      if (controls_ == Controls::refused && has_control_character(key))
        return fail(mark, "control characters are not allowed in a key");
      if (!keys.emplace(key).second) {
        return fail(mark, fmt::format("duplicate key {}", quoted(key)));
      }
      if (entries.size() == kMostItems) return fail(mark, too_many());
      entries.push_back({std::string{key}, mark, {}});
      if (!value(field.value(), entries.back().value, depth + 1)) return false;
    }
    to.data = std::move(entries);
    return true;
  }

  bool array(od::value from, Value& to, int depth) {
    od::array items;
    if (from.get_array().get(items) != simdjson::SUCCESS) return fail(to.mark, "malformed list");
    Value::List list;
    for (auto item : items) {
      od::value element;
      if (std::move(item).get(element) != simdjson::SUCCESS) {
        return fail(list.empty() ? to.mark : list.back().mark,
                    "malformed list: expected `,` or `]`");
      }
      if (list.size() == kMostItems) return fail(list.back().mark, too_many());
      list.emplace_back();
      if (!value(element, list.back(), depth + 1)) return false;
    }
    to.data = std::move(list);
    return true;
  }

  bool text(od::value from, Value& to) {
    std::string_view content;
    if (from.get_string().get(content) != simdjson::SUCCESS) return fail(to.mark, "malformed text");
    if (controls_ == Controls::refused && has_control_character(content))
      return fail(to.mark, "control characters are not allowed in a text");
    to.data = std::string{content};
    return true;
  }

  bool number(od::value from, Value& to) {
    od::number content;
    if (from.get_number().get(content) != simdjson::SUCCESS)
      return fail(to.mark, "malformed number, or one that does not fit into 64 bits");
    if (content.is_int64()) {
      to.data = content.get_int64();
    } else if (content.is_double()) {
      to.data = content.get_double();
    } else {
      return fail(to.mark, "number does not fit into 64 bits");
    }
    return true;
  }

  static Mark last_mark(const Value::Table& entries, Mark otherwise) {
    return entries.empty() ? otherwise : entries.back().value.mark;
  }

  Marks marks_;
  Problems& problems_;
  Controls controls_;
};

}  // namespace

Result<Value> read_json(std::string_view text, Problems& problems, Controls controls) {
  if (text.size() > kLargestDocument) {
    problems.add({}, fmt::format("larger than {} bytes", kLargestDocument));
    return problems.to_error();
  }
  const simdjson::padded_string padded{text};
  Reader reader{padded, problems, controls};
  od::parser parser;
  od::document document;
  if (const auto error = parser.iterate(padded).get(document)) {
    problems.add({1, 1}, fmt::format("JSON: {}", simdjson::error_message(error)));
    return problems.to_error();
  }
  od::value top;
  Value tree;
  if (document.get_value().get(top) != simdjson::SUCCESS) {
    problems.add({1, 1}, "expected an object: { … }");
    return problems.to_error();
  }
  if (!reader.value(top, tree, 0)) return problems.to_error();
  const char* rest = nullptr;
  if (document.current_location().get(rest) == simdjson::SUCCESS) {
    problems.add(reader.marks().at(rest), "JSON: something follows the end of the document");
    return problems.to_error();
  }
  return tree;
}

}  // namespace cordon::policy
