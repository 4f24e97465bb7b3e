// SPDX-License-Identifier: Apache-2.0
#include "mcp/server/output_store.h"

#include <algorithm>

#include <fmt/format.h>

#include "mcp/server/text_cap.h"

namespace cordon::mcp::server {
namespace {

// Lines with `wanted` from `offset` on, until `limit` is reached.
OutputStore::Part lines_of(std::string_view text, std::size_t offset, std::size_t limit,
                           std::string_view wanted) {
  OutputStore::Part part{.text = {}, .next = {}, .size = text.size()};
  std::size_t at = std::min(offset, text.size());
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.find(wanted) != std::string_view::npos) {
      if (!part.text.empty() && part.text.size() + line.size() + 1 > limit) {
        part.next = at;
        return part;
      }
      part.text += whole_characters(line, 0, limit);
      part.text += '\n';
    }
    at = end + 1;
  }
  return part;
}

}  // namespace

std::string OutputStore::add(std::string text) {
  held_ += text.size();
  kept_.push_back({.name = fmt::format("o{}", ++last_), .text = std::move(text)});
  while (held_ > most_ && kept_.size() > 1) {
    held_ -= kept_.front().text.size();
    kept_.pop_front();
  }
  return kept_.back().name;
}

Result<OutputStore::Part> OutputStore::read(std::string_view name, std::size_t offset,
                                            std::size_t limit,
                                            const std::optional<std::string>& lines_with) const {
  const auto found = std::ranges::find(kept_, name, &Kept::name);
  if (found == kept_.end()) {
    return Error{Errc::not_found,
                 "there is no output of this name; old ones make room for new ones"};
  }
  const std::string_view text = found->text;
  if (lines_with) return lines_of(text, offset, limit, *lines_with);
  const std::string_view part = whole_characters(text, offset, limit);
  const auto end = static_cast<std::size_t>(part.data() + part.size() - text.data());
  return Part{.text = std::string{part},
              .next = end < text.size() ? std::optional{end} : std::nullopt,
              .size = text.size()};
}

}  // namespace cordon::mcp::server
