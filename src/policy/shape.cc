// SPDX-License-Identifier: Apache-2.0
#include "policy/shape.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "policy/spelling.h"
#include "policy/text.h"

namespace cordon::policy {
namespace {

constexpr std::int64_t kMostMilliCpus = 4'096'000;

// "process, gvisor or microvm"
std::string in_words(const std::vector<std::string_view>& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) text += i + 1 == all.size() ? " or " : ", ";
    text += all[i];
  }
  return text;
}

std::string size_text(std::int64_t bytes) {
  constexpr std::pair<std::string_view, int> kUnits[] = {
      {"Ti", 40}, {"Gi", 30}, {"Mi", 20}, {"Ki", 10}};
  for (const auto& [unit, shift] : kUnits) {
    const auto scale = std::int64_t{1} << shift;
    if (bytes >= scale && bytes % scale == 0) return fmt::format("{}{}", bytes / scale, unit);
  }
  return fmt::format("{}", bytes);
}

class Shape {
 public:
  Shape(Problems& problems, std::span<const Key> keys) : problems_{problems}, keys_{keys} {}

  // `path` is the table's own path in the table of keys; `shown` is how a person sees it.
  void table(const Value& value, const std::string& path, const std::string& shown) {
    for (const Entry& entry : *value.table()) {
      const std::string child = path.empty() ? entry.key : path + '.' + entry.key;
      const auto key = std::ranges::find(keys_, child, &Key::path);
      if (key == keys_.end() || entry.key.find('.') != std::string::npos) {
        unknown(entry, path, shown);
      } else {
        one(entry.value, *key, entry.key);
      }
    }
  }

 private:
  void unknown(const Entry& entry, const std::string& path, const std::string& shown) {
    if (problems_.full()) return;  // a hostile document must not be spelled out for ever
    std::vector<std::string_view> known;
    for (const Key& key : keys_) {
      if (is_child_of(key, path)) known.push_back(name_of(key));
    }
    std::string instead = did_you_mean(entry.key, known);
    if (instead.empty()) instead = fmt::format("; allowed: {}", fmt::join(known, ", "));
    problems_.add(entry.mark,
                  fmt::format("unknown key {} in {}{}", in_quotes(entry.key), shown, instead));
  }

  void wrong(const Value& value, std::string_view name, std::string_view expected) {
    problems_.add(value.mark, fmt::format("{}: expected {}, found {}", in_quotes(name), expected,
                                          noun_of(value)));
  }

  // `name` is the key as written, for messages.
  void one(const Value& value, const Key& key, const std::string& name) {
    switch (key.kind) {
      case Kind::boolean:
        if (value.boolean() == nullptr) wrong(value, name, "true or false");
        return;
      case Kind::integer:
        return integer(value, key, name);
      case Kind::text:
        return text(value, name);
      case Kind::choice:
        return choice(value, key, name);
      case Kind::size:
        return size(value, key, name);
      case Kind::cpus:
        return cpus(value, name);
      case Kind::texts:
        return each(value, name, "a list of texts", [&](const Value& item) { text(item, name); });
      case Kind::choices:
        return each(value, name, "a list of texts",
                    [&](const Value& item) { choice(item, key, name); });
      case Kind::ports:
        return each(value, name, "a list of ports", [&](const Value& item) { port(item, name); });
      case Kind::text_or_ports: {
        if (value.text() != nullptr) return choice(value, key, name);
        auto known = choices_of(key);
        known.emplace_back("a list of ports");
        return each(value, name, in_words(known), [&](const Value& item) { port(item, name); });
      }
      default:
        return nested(value, key, name);
    }
  }

  void nested(const Value& value, const Key& key, const std::string& name) {
    const std::string path{key.path};
    const std::string items = path + "[]";
    const auto table_item = [&](const Value& item) {
      if (item.table() == nullptr) return wrong(item, name, "a table");
      table(item, items, "an item of " + in_quotes(name));
    };
    switch (key.kind) {
      case Kind::table:
        if (value.table() == nullptr) return wrong(value, name, "a table");
        return table(value, path, fmt::format("[{}]", name));
      case Kind::tables:
        return each(value, name, "a list of tables", table_item);
      case Kind::text_or_tables:
        return each(value, name, "a list of texts and tables", [&](const Value& item) {
          if (item.text() != nullptr) return text(item, name);
          if (item.table() == nullptr) return wrong(item, name, "a text or a table");
          table_item(item);
        });
      case Kind::texts_by_name:
      case Kind::tables_by_name:
        return by_name(value, key, name);
      default:
        return;  // any: its reader has rules of its own
    }
  }

  void by_name(const Value& value, const Key& key, const std::string& name) {
    if (value.table() == nullptr) return wrong(value, name, "a table");
    for (const Entry& entry : *value.table()) {
      if (key.kind == Kind::texts_by_name) {
        if (entry.value.text() == nullptr) wrong(entry.value, entry.key, "a text");
      } else if (entry.value.table() == nullptr) {
        wrong(entry.value, entry.key, "a table");
      } else {
        table(entry.value, std::string{key.path} + ".*",
              fmt::format("[{}.{}]", name, printable(entry.key)));
      }
    }
  }

  template <class F>
  void each(const Value& value, const std::string& name, std::string_view expected, F&& item) {
    if (value.list() == nullptr) return wrong(value, name, expected);
    for (const Value& one : *value.list()) item(one);
  }

  void integer(const Value& value, const Key& key, const std::string& name) {
    if (value.integer() == nullptr) return wrong(value, name, "a whole number");
    if (*value.integer() < key.least || *value.integer() > key.most) {
      const std::string range = key.least == key.most
                                    ? fmt::format("only {} is known", key.least)
                                    : fmt::format("allowed are {} to {}", key.least, key.most);
      problems_.add(value.mark, fmt::format("{}: {} is out of range; {}", in_quotes(name),
                                            *value.integer(), range));
    }
  }

  void port(const Value& value, const std::string& name) {
    if (value.integer() == nullptr) return wrong(value, name, "a port");
    if (*value.integer() < 1 || *value.integer() > 65535) {
      problems_.add(value.mark, fmt::format("{}: {} is no port; allowed are 1 to 65535",
                                            in_quotes(name), *value.integer()));
    }
  }

  void text(const Value& value, const std::string& name) {
    if (value.text() == nullptr) return wrong(value, name, "a text");
    if (value.text()->empty())
      problems_.add(value.mark,
                    fmt::format("{}: an empty text allows nothing; remove it", in_quotes(name)));
  }

  void choice(const Value& value, const Key& key, const std::string& name) {
    const auto known = choices_of(key);
    if (value.text() == nullptr) return wrong(value, name, in_words(known) + " as a text");
    if (std::ranges::find(known, *value.text()) != known.end()) return;
    problems_.add(value.mark, fmt::format("{}: {} is not known; allowed: {}{}", in_quotes(name),
                                          in_quotes(*value.text()), in_words(known),
                                          did_you_mean(*value.text(), known)));
  }

  void size(const Value& value, const Key& key, const std::string& name) {
    std::optional<std::int64_t> bytes;
    if (value.integer() != nullptr) bytes = *value.integer();
    if (value.text() != nullptr) {
      bytes = size_from(*value.text());
      if (!bytes) {
        problems_.add(
            value.mark,
            fmt::format("{}: {} is no size; write bytes, or a number with Ki, Mi, Gi or Ti{}",
                        in_quotes(name), in_quotes(*value.text()), unit_hint(*value.text())));
        return;
      }
    }
    if (!bytes) return wrong(value, name, "a size such as \"512Mi\"");
    if (*bytes < key.least || *bytes > key.most) {
      problems_.add(value.mark,
                    fmt::format("{}: {} is out of range; allowed are {} to {}", in_quotes(name),
                                size_text(*bytes), size_text(key.least), size_text(key.most)));
    }
  }

  // "4G", "4GB" and "4g" are two different sizes to two readers; ours has one spelling.
  static std::string unit_hint(const std::string& text) {
    const auto digits = text.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string::npos) return {};
    const auto unit = static_cast<char>(text[digits] & ~0x20);
    if (std::string_view{"KMGT"}.find(unit) == std::string_view::npos) return {};
    const std::string meant = fmt::format("{}{}i", text.substr(0, digits), unit);
    if (meant == text) return "; this one is too large";
    return fmt::format("; did you mean `{}`?", meant);
  }

  void cpus(const Value& value, const std::string& name) {
    std::optional<std::int64_t> milli;
    if (value.integer() != nullptr && *value.integer() >= 0 && *value.integer() <= kMostMilliCpus)
      milli = *value.integer() * 1000;
    if (value.text() != nullptr) milli = milli_cpus_from(*value.text());
    if (value.text() == nullptr && value.integer() == nullptr) {
      return wrong(value, name, "a number of processors such as \"2\" or \"0.5\"");
    }
    if (!milli || *milli < 1 || *milli > kMostMilliCpus) {
      problems_.add(value.mark,
                    fmt::format("{}: {} is no number of processors; allowed are 0.001 to {}, such "
                                "as \"2\" or \"0.5\"",
                                in_quotes(name),
                                value.text() != nullptr ? in_quotes(*value.text())
                                                        : fmt::format("{}", *value.integer()),
                                kMostMilliCpus / 1000));
    }
  }

  Problems& problems_;
  std::span<const Key> keys_;
};

std::optional<std::int64_t> whole(std::string_view digits) noexcept {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty() || number < 0)
    return std::nullopt;
  if (digits.front() == '-') return std::nullopt;
  return number;
}

}  // namespace

void check_shape(const Value& top, Problems& problems) { check_shape(top, problems, all_keys()); }

void check_shape(const Value& top, Problems& problems, std::span<const Key> keys) {
  if (top.table() == nullptr) {
    problems.add(top.mark, fmt::format("expected a table of keys, found {}", noun_of(top)));
    return;
  }
  Shape{problems, keys}.table(top, "", "the document");
}

std::optional<std::int64_t> size_from(std::string_view text) noexcept {
  int shift = 0;
  constexpr std::pair<std::string_view, int> kUnits[] = {
      {"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}};
  for (const auto& [unit, bits] : kUnits) {
    if (text.ends_with(unit)) {
      shift = bits;
      text.remove_suffix(unit.size());
      break;
    }
  }
  const auto number = whole(text);
  if (!number || *number > (INT64_MAX >> shift)) return std::nullopt;
  return *number << shift;
}

std::optional<std::int64_t> milli_cpus_from(std::string_view text) noexcept {
  const auto dot = text.find('.');
  const auto units = whole(text.substr(0, dot));
  if (!units || *units > kMostMilliCpus) return std::nullopt;
  std::int64_t milli = *units * 1000;
  if (dot != std::string_view::npos) {
    std::string_view decimals = text.substr(dot + 1);
    if (decimals.size() > 3) return std::nullopt;
    auto part = whole(decimals);
    if (!part) return std::nullopt;
    for (std::size_t i = decimals.size(); i < 3; ++i) *part *= 10;
    milli += *part;
  }
  return milli;
}

}  // namespace cordon::policy
