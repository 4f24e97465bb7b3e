// SPDX-License-Identifier: Apache-2.0
#include "mcp/pins.h"

#include <algorithm>

#include <fmt/format.h>

#include "mcp/canonical.h"
#include "mcp/fold.h"

namespace cordon::mcp {

PinBook::PinBook(const std::vector<Pin>& pins, bool is_first_sight)
    : is_first_sight_{is_first_sight} {
  for (const Pin& pin : pins) pinned_.emplace(pin.tool, pin.sha256);
}

std::string PinBook::why_waits(const Json& tool, const std::string& name, std::size_t size) const {
  if (size > kLongestTool) {
    return fmt::format("its description has {} bytes, more than {}", size, kLongestTool);
  }
  if (has_hidden_text(tool)) return "its description has what no reader sees";
  for (const auto& [other, digest] : pinned_) {
    if (other != name && folded(other) == folded(name))
      return fmt::format("its name is that of {} in other letters", other);
  }
  if (pinned_.size() >= kMostPins) return fmt::format("there are more than {} tools", kMostPins);
  return is_first_sight_ ? std::string{} : "it was not there when the server was first seen";
}

bool PinBook::see(const Json& tool, std::string_view line, std::vector<FromFilter>& told) {
  const std::string* const name = tool.find_text("name");
  if (name == nullptr || !is_tool_name(*name)) return false;
  const std::string digest = canonical_digest(&tool, line);
  const auto pinned = pinned_.find(*name);
  if (pinned != pinned_.end() && pinned->second == digest) {
    waits_.erase(*name);
    return true;
  }
  const std::string definition = canonical(tool, line);
  const std::string why = pinned != pinned_.end()
                              ? "its description has changed since it was pinned"
                              : why_waits(tool, *name, definition.size());
  if (why.empty()) {
    pinned_.emplace(*name, digest);
    waits_.erase(*name);
    told.emplace_back(Sighted{.tool = *name, .sha256 = digest, .is_pinned = true});
    return true;
  }
  if (waits_.size() >= kMostPins && !waits_.contains(*name)) return false;
  waits_.insert_or_assign(*name, why);
  if (std::exchange(told_[*name], digest) == digest) return false;
  told.emplace_back(Sighted{.tool = *name,
                            .sha256 = digest,
                            .why = why,
                            .definition = definition.size() > kLongestTool ? "{}" : definition});
  return false;
}

void PinBook::end_list(std::vector<FromFilter>& told) {
  if (!is_first_sight_) return;
  is_first_sight_ = false;
  told.emplace_back(SightOver{});
}

std::string PinBook::why_not(const std::string& tool) const {
  if (const auto waits = waits_.find(tool); waits != waits_.end()) return waits->second;
  if (is_first_sight_ || pinned_.contains(tool)) return {};
  return "it was not there when the server was first seen";
}

void PinFile::take(const Sighted& sighted) {
  std::erase_if(waiting, [&](const WaitingTool& one) { return one.tool == sighted.tool; });
  if (!sighted.is_pinned) {
    if (waiting.size() < kMostPins)
      waiting.push_back({sighted.tool, sighted.sha256, sighted.why, sighted.definition});
    return;
  }
  // What is pinned already changes by acceptance alone, whatever a filter says.
  const auto same = [&](const Pin& pin) { return pin.tool == sighted.tool; };
  if (std::ranges::none_of(pinned, same) && pinned.size() < kMostPins && !is_seen)
    pinned.push_back({sighted.tool, sighted.sha256});
}

std::vector<std::string> PinFile::accept(const std::vector<std::string>& names) {
  std::vector<std::string> accepted;
  std::vector<WaitingTool> rest;
  for (WaitingTool& one : waiting) {
    if (!names.empty() && std::ranges::find(names, one.tool) == names.end()) {
      rest.push_back(std::move(one));
      continue;
    }
    std::erase_if(pinned, [&](const Pin& pin) { return pin.tool == one.tool; });
    pinned.push_back({one.tool, one.sha256});
    accepted.push_back(one.tool);
  }
  waiting = std::move(rest);
  return accepted;
}

std::string to_text(const PinFile& file) {
  std::string text;
  if (!file.files.empty()) text += fmt::format("files {}\n", file.files);
  for (const Pin& pin : file.pinned) text += fmt::format("pinned {} {}\n", pin.tool, pin.sha256);
  for (const WaitingTool& one : file.waiting) {
    text += fmt::format("waiting {} {} {}\t{}\n", one.tool, one.sha256, one.why, one.definition);
  }
  if (file.is_seen) text += "seen\n";
  return text;
}

namespace {

std::string_view take_word(std::string_view& rest) {
  const std::size_t space = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, space);
  rest.remove_prefix(std::min(space + 1, rest.size()));
  return word;
}

bool parse_line(std::string_view line, PinFile& file) {
  const std::string_view kind = take_word(line);
  if (kind == "seen") {
    file.is_seen = true;
    return line.empty();
  }
  if (kind == "files") {
    file.files = take_word(line);
    return line.empty() && is_digest(file.files);
  }
  const std::string tool{take_word(line)};
  const std::string digest{take_word(line)};
  if (!is_tool_name(tool) || !is_digest(digest)) return false;
  if (kind == "pinned") {
    file.pinned.push_back({tool, digest});
    return line.empty() && file.pinned.size() <= kMostPins;
  }
  const std::size_t tab = line.find('\t');
  if (kind != "waiting" || tab == std::string_view::npos) return false;
  file.waiting.push_back(
      {tool, digest, std::string{line.substr(0, tab)}, std::string{line.substr(tab + 1)}});
  return file.waiting.size() <= kMostPins;
}

}  // namespace

Result<PinFile> parse_pins(std::string_view text) {
  PinFile file;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t newline = text.find('\n');
    if (newline == std::string_view::npos || !parse_line(text.substr(0, newline), file))
      return Error{Errc::invalid, fmt::format("line {} is none of a file of pins", number)};
    text.remove_prefix(newline + 1);
  }
  return file;
}

}  // namespace cordon::mcp
