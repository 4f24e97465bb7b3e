// SPDX-License-Identifier: Apache-2.0
#include "mcp/canonical.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/utf8.h"
#include "hash/sha256.h"

namespace cordon::mcp {
namespace {

void append(std::string& out, const Json& value, std::string_view line) {
  if (value.kind == JsonKind::text) {
    append_json_text(out, value.text);
  } else if (value.kind == JsonKind::list) {
    out += '[';
    for (const Json& item : value.items) {
      if (&item != value.items.data()) out += ',';
      append(out, item, line);
    }
    out += ']';
  } else if (value.kind == JsonKind::object) {
    std::vector<const JsonMember*> members;
    members.reserve(value.members.size());
    for (const JsonMember& member : value.members) members.push_back(&member);
    std::ranges::sort(members, {}, [](const JsonMember* member) { return member->key; });
    char separator = '{';
    for (const JsonMember* const member : members) {
      out += separator;
      append_json_text(out, member->key);
      out += ':';
      append(out, member->value, line);
      separator = ',';
    }
    out += members.empty() ? "{}" : "}";
  } else {
    out += value.in(line);
  }
}

// A comment of HTML is read by a model, and by no person whose client shows HTML or Markdown.
bool is_hidden(std::string_view text) {
  if (text.find("<!--") != std::string_view::npos) return true;
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    const bool is_break =
        character.code == '\n' || character.code == '\r' || character.code == '\t';
    if (!is_break && is_deceptive(character.code)) return true;
    text.remove_prefix(std::max<std::size_t>(character.length, 1));
  }
  return false;
}

}  // namespace

std::string canonical(const Json& value, std::string_view line) {
  std::string out;
  append(out, value, line);
  return out;
}

std::string canonical_digest(const Json* value, std::string_view line) {
  const std::string text = value == nullptr ? "{}" : canonical(*value, line);
  return to_hex(sha256({as_bytes(text)}));
}

bool has_hidden_text(const Json& value) {
  return is_hidden(value.text) || std::ranges::any_of(value.items, has_hidden_text) ||
         std::ranges::any_of(value.members, [](const JsonMember& member) {
           return is_hidden(member.key) || has_hidden_text(member.value);
         });
}

}  // namespace cordon::mcp
