// SPDX-License-Identifier: Apache-2.0
// The tools diff and apply.
#include <algorithm>
#include <filesystem>
#include <tuple>

#include <boost/json/array.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/mcp/tools.h"
#include "review/printable.h"

namespace cordon::cli {
namespace {

// That are listed; all count.
constexpr std::size_t kMostFiles = 500;
// That a person is shown with a question; those with flags come first.
constexpr std::size_t kMostShownAtOnce = 20;

struct Shown {
  LayerView view;
  std::string patch;
};

bool is_at_or_below(std::string_view path, std::string_view top) {
  return top.empty() || top == "." ||
         (path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/'));
}

// Of a path as a client says it: relative to the workspace, without dots.
Result<std::string> inner_path(const std::string& said, const std::string& workspace) {
  std::filesystem::path path{said};
  if (path.is_absolute()) path = path.lexically_relative(workspace);
  std::string inner = path.lexically_normal().string();
  while (inner.size() > 1 && inner.ends_with('/')) inner.pop_back();
  if (inner.empty() || inner == ".." || inner.starts_with("../") ||
      inner.find('\0') != std::string::npos) {
    return Error{Errc::invalid, review::printable(said) + ": outside the workspace"};
  }
  return inner;
}

Result<Shown> look_at(const ReviewLayer& layer, const std::string& top, bool wants_patch,
                      std::size_t most) {
  Shown shown;
  TRY(shown.view, layer.look());
  if (!wants_patch) return shown;
  for (const review::Change& change : shown.view.changes) {
    if (!is_at_or_below(change.path, top)) continue;
    // One more than there is room for, so that it is known to be cut.
    if (shown.patch.size() > most) break;
    TRY(const std::string one, layer.patch(change));
    shown.patch += one;
  }
  return shown;
}

json::object file_of(const review::Change& change) {
  json::array flags;
  for (const review::Flag& flag : change.flags) flags.emplace_back(flag.code);
  if (!change.obstacle.empty()) flags.emplace_back("not_applied");
  const auto lines = [&](std::size_t review::LineCount::* which) {
    return change.lines ? json::value((*change.lines).*which) : json::value{};
  };
  return {{"path", review::printable(change.path)},
          {"kind", to_string(change.kind)},
          {"type", to_string(change.type)},
          {"added", lines(&review::LineCount::added)},
          {"removed", lines(&review::LineCount::removed)},
          {"conflict", change.lower_is_newer},
          {"flags", std::move(flags)}};
}

std::string line_of(const review::Change& change) {
  std::string line =
      fmt::format("{}  {}", review::letter_of(change.kind), review::printable(change.path));
  if (change.lines) line += fmt::format("  +{} -{}", change.lines->added, change.lines->removed);
  for (const review::Flag& flag : change.flags) line += "  ! " + flag.reason;
  if (change.lower_is_newer) line += "  ! the workspace's own has changed meanwhile";
  return line + "\n";
}

std::string question_for(const std::vector<review::Change>& changes, const std::string& workspace) {
  std::vector<const review::Change*> order;
  order.reserve(changes.size());
  for (const review::Change& change : changes) order.push_back(&change);
  // What a person must not miss comes first: what runs elsewhere, and what goes.
  std::ranges::sort(order, {}, [](const review::Change* change) {
    return std::tuple{change->flags.empty(), change->kind != review::ChangeKind::deleted,
                      std::string_view{change->path}};
  });
  const ChangeCounts counts = count(changes);
  std::string text =
      fmt::format("Apply to {}: {} added, {} modified, {} deleted?\n", review::printable(workspace),
                  counts.added, counts.modified, counts.deleted);
  for (std::size_t at = 0; at < order.size() && at < kMostShownAtOnce; ++at)
    text += line_of(*order[at]);
  if (order.size() > kMostShownAtOnce)
    text += fmt::format("and {} more\n", order.size() - kMostShownAtOnce);
  return text;
}

ToolResult applied(const review::ApplyReport& report) {
  json::array done;
  for (const review::Change& change : report.applied) {
    done.emplace_back(review::printable(change.path));
  }
  json::array left;
  std::string text = fmt::format("applied {} changes\n", report.applied.size());
  for (const review::NotApplied& one : report.left) {
    left.push_back(json::object{{"path", review::printable(one.path)},
                                {"reason", review::printable(one.reason, review::Spelling::line)},
                                {"conflict", one.conflict}});
    text += fmt::format("not applied: {}: {}\n", review::printable(one.path), one.reason);
  }
  return {.structured = {{"applied", std::move(done)},
                         {"left", std::move(left)},
                         {"remaining", report.remaining}},
          .text = mcp::server::as_utf8(text)};
}

}  // namespace

asio::awaitable<ToolAnswer> Tools::diff(Call& call) {
  std::string top = text_in(call.arguments, "path");
  if (!top.empty()) {
    auto inner = inner_path(top, at_.workspace);
    if (!inner) co_return failed("cordon: " + inner.error().text());
    top = *std::move(inner);
  }
  const bool wants_patch = text_in(call.arguments, "format") == "patch";
  const auto most = static_cast<std::size_t>(number_in(call.arguments, "max_output", 20'000));
  const auto shown =
      co_await at_.sandboxes.on_layer([top, wants_patch, most](const ReviewLayer& layer) {
        return look_at(layer, top, wants_patch, most);
      });
  if (!shown) co_return failed("cordon: " + mcp::server::as_utf8(shown.error().text()));
  json::array files;
  std::string text;
  std::size_t total = 0;
  for (const review::Change& change : shown->view.changes) {
    if (!is_at_or_below(change.path, top)) continue;
    if (++total > kMostFiles) continue;
    files.push_back(file_of(change));
    text += line_of(change);
  }
  const mcp::server::Cut patch =
      mcp::server::head_and_tail(mcp::server::as_utf8(shown->patch), most, {});
  const std::optional<RunId>& run = shown->view.run;
  json::object structured{{"files", std::move(files)},
                          {"total", total},
                          {"patch", wants_patch ? json::value(patch.text) : json::value{}},
                          {"truncated", patch.is_cut || total > kMostFiles},
                          {"expect", shown->view.digest},
                          {"run", run ? json::value(run->text()) : json::value{}}};
  text = wants_patch ? patch.text : mcp::server::head_and_tail(text, 4000, "see files").text;
  if (total == 0) text = "nothing waits for review\n";
  co_return ToolResult{.structured = std::move(structured), .text = std::move(text)};
}

asio::awaitable<ToolAnswer> Tools::apply(Call& call) {
  const std::string expect = text_in(call.arguments, "expect");
  review::Selection selection{.all = true};
  if (const json::value* const paths = call.arguments.if_contains("paths")) {
    selection.all = false;
    for (const json::value& said : paths->as_array()) {
      auto inner = inner_path(std::string{said.as_string()}, at_.workspace);
      if (!inner) co_return failed("cordon: " + inner.error().text());
      if (*inner == ".") selection.all = true;
      selection.paths.push_back(*std::move(inner));
    }
  }
  const auto seen =
      co_await at_.sandboxes.on_layer([](const ReviewLayer& layer) { return layer.look(); });
  if (!seen) co_return failed("cordon: " + mcp::server::as_utf8(seen.error().text()));
  const std::optional<RunId> run = seen->run;
  if (!run || seen->changes.empty()) co_return failed("cordon: nothing waits for review");
  if (seen->digest != expect) {
    co_return failed(
        "cordon: what waits is not what `expect` was given for: look at it again with diff");
  }
  auto chosen = review::select(seen->changes, selection);
  if (!chosen) co_return failed("cordon: " + chosen.error().text());
  if (!at_.applies_unasked) {
    Question question{.message = question_for(*chosen, at_.workspace),
                      .choices = {"apply", "refuse"},
                      .about = seen->digest};
    Asked asked = co_await ask(call, consents_, std::move(question));
    if (auto* const required = std::get_if<InputRequired>(&asked)) co_return std::move(*required);
    if (auto* const problem = std::get_if<mcp::server::Problem>(&asked))
      co_return std::move(*problem);
    if (!std::holds_alternative<Chosen>(asked)) {
      const auto* const declined = std::get_if<Declined>(&asked);
      co_return failed(fmt::format(
          "cordon: not applied: {}. A person may type: cordon apply {} --all",
          declined == nullptr ? "this client has no way to ask a person" : declined->why,
          run->text()));
    }
  }
  const auto report = co_await at_.sandboxes.on_layer(
      [selection, expect](ReviewLayer& layer) { return layer.apply(selection, expect); });
  if (!report) co_return failed("cordon: " + mcp::server::as_utf8(report.error().text()));
  co_return applied(*report);
}

}  // namespace cordon::cli
