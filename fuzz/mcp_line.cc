// SPDX-License-Identifier: Apache-2.0
// Any bytes as a line of an MCP client: what passes is read alike by Boost.JSON, simdjson and
// nlohmann's JSON, which know nothing of us.
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <simdjson.h>

#include "mcp/canonical.h"
#include "mcp/fold.h"
#include "mcp/message.h"
#include "promise.h"

namespace {

using namespace cordon;
using mcp::Json;
using mcp::JsonKind;

void promise(bool kept, std::string_view words) {
  if (!kept) fuzz::broken(words);
}

// Boost.JSON 1.81 is off by a bit or two in long fractions.
bool is_near(double a, double b) { return a == b || std::abs(a - b) <= std::abs(b) * 1e-15 * 8; }

double number_of(std::string_view spelled) {
  return std::strtod(std::string{spelled}.c_str(), nullptr);
}

bool same(const Json& own, std::string_view line, const boost::json::value& other) {
  switch (own.kind) {
    case JsonKind::null:
      return other.is_null();
    case JsonKind::boolean:
      return other.is_bool() && other.get_bool() == (own.in(line) == "true");
    case JsonKind::number:
      return other.is_number() && is_near(other.to_number<double>(), number_of(own.in(line)));
    case JsonKind::text:
      return other.is_string() && std::string_view{other.get_string()} == own.text;
    case JsonKind::list: {
      if (!other.is_array() || other.get_array().size() != own.items.size()) return false;
      for (std::size_t i = 0; i < own.items.size(); ++i) {
        if (!same(own.items[i], line, other.get_array()[i])) return false;
      }
      return true;
    }
    case JsonKind::object: {
      if (!other.is_object() || other.get_object().size() != own.members.size()) return false;
      for (const mcp::JsonMember& member : own.members) {
        const auto* const found = other.get_object().if_contains(member.key);
        if (found == nullptr || !same(member.value, line, *found)) return false;
      }
      return true;
    }
  }
  return false;
}

bool same(const Json& own, std::string_view line, const simdjson::dom::element& other) {
  switch (own.kind) {
    case JsonKind::null:
      return other.is_null();
    case JsonKind::boolean: {
      bool value = false;
      return other.get(value) == simdjson::SUCCESS && value == (own.in(line) == "true");
    }
    case JsonKind::number: {
      double value = 0;
      return other.get(value) == simdjson::SUCCESS && value == number_of(own.in(line));
    }
    case JsonKind::text: {
      std::string_view value;
      return other.get(value) == simdjson::SUCCESS && value == own.text;
    }
    case JsonKind::list: {
      simdjson::dom::array list;
      if (other.get(list) != simdjson::SUCCESS || list.size() != own.items.size()) return false;
      std::size_t i = 0;
      for (const simdjson::dom::element item : list) {
        if (!same(own.items[i++], line, item)) return false;
      }
      return true;
    }
    case JsonKind::object: {
      simdjson::dom::object object;
      if (other.get(object) != simdjson::SUCCESS || object.size() != own.members.size())
        return false;
      for (const mcp::JsonMember& member : own.members) {
        simdjson::dom::element value;
        // Also by a reader that does not mind case: there is one such key.
        if (object.at_key(member.key).get(value) != simdjson::SUCCESS) return false;
        if (!same(member.value, line, value)) return false;
      }
      return true;
    }
  }
  return false;
}

bool same(const Json& own, std::string_view line, const nlohmann::json& other) {
  switch (own.kind) {
    case JsonKind::null:
      return other.is_null();
    case JsonKind::boolean:
      return other.is_boolean() && other.get<bool>() == (own.in(line) == "true");
    case JsonKind::number:
      return other.is_number() && other.get<double>() == number_of(own.in(line));
    case JsonKind::text:
      return other.is_string() && other.get_ref<const std::string&>() == own.text;
    case JsonKind::list: {
      if (!other.is_array() || other.size() != own.items.size()) return false;
      for (std::size_t i = 0; i < own.items.size(); ++i) {
        if (!same(own.items[i], line, other[i])) return false;
      }
      return true;
    }
    case JsonKind::object: {
      if (!other.is_object() || other.size() != own.members.size()) return false;
      for (const mcp::JsonMember& member : own.members) {
        const auto found = other.find(member.key);
        if (found == other.end() || !same(member.value, line, *found)) return false;
      }
      return true;
    }
  }
  return false;
}

void compare(std::string_view line, const mcp::Message& message) {
  boost::json::error_code error;
  boost::json::parse_options options;
  options.max_depth = mcp::kDeepestLine + 1;
  const boost::json::value other = boost::json::parse(line, error, {}, options);
  promise(!error, "Boost.JSON reads it");
  promise(same(message.top, line, other), "Boost.JSON reads the same");
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  promise(parser.parse(line.data(), line.size()).get(element) == simdjson::SUCCESS,
          "simdjson reads it");
  promise(same(message.top, line, element), "simdjson reads the same");
  const auto third = nlohmann::json::parse(line.begin(), line.end(), nullptr, false);
  promise(!third.is_discarded(), "nlohmann's JSON reads it");
  promise(same(message.top, line, third), "nlohmann's JSON reads the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line{reinterpret_cast<const char*>(data), size};
  if (line.find('\n') != std::string_view::npos) return 0;
  const mcp::ReadMessage read = mcp::read_message(line, mcp::Numbers::exact);
  if (!read.refused.empty()) return 0;
  compare(line, read.message);
  // In one spelling it says the same.
  const std::string again = canonical(read.message.top, line);
  const mcp::ReadMessage reread = mcp::read_message(again, mcp::Numbers::exact);
  promise(reread.refused.empty(), "its canonical form passes");
  promise(canonical(reread.message.top, again) == again, "it is canonical");
  promise(reread.message.id == read.message.id && reread.message.method == read.message.method,
          "it is the same message");
  return 0;
}
