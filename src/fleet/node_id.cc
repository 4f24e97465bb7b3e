// SPDX-License-Identifier: Apache-2.0
#include "fleet/node_id.h"

#include <charconv>

#include <fmt/format.h>

namespace cordon::fleet {
namespace {

constexpr std::string_view kCells = "/cordon/cells/";
constexpr std::string_view kNodes = "/nodes/";

template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, failure] = std::from_chars(text.begin(), text.end(), number);
  if (failure != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  return true;
}

bool take_words(std::string_view& text, std::string_view words) {
  if (!text.starts_with(words)) return false;
  text.remove_prefix(words.size());
  return true;
}

}  // namespace

std::string to_string(NodeId node) { return fmt::format("{}.{}", node.cell, node.node); }

std::optional<NodeId> node_named(std::string_view text) {
  NodeId node;
  std::string_view left = text;
  const bool is_read = take_number(left, node.cell) && take_words(left, ".") &&
                       take_number(left, node.node) && left.empty();
  if (!is_read || to_string(node) != text) return std::nullopt;
  return node;
}

std::string nodes_of(std::uint16_t cell) { return fmt::format("{}{}{}", kCells, cell, kNodes); }

std::string key_of(NodeId node) { return nodes_of(node.cell) + std::to_string(node.node); }

std::optional<NodeId> node_of(std::string_view key) {
  NodeId id;
  std::string_view rest = key;
  const bool is_read = take_words(rest, kCells) && take_number(rest, id.cell) &&
                       take_words(rest, kNodes) && take_number(rest, id.node) && rest.empty();
  // 007 reads as a number too.
  if (!is_read || key_of(id) != key) return std::nullopt;
  return id;
}

}  // namespace cordon::fleet
