// SPDX-License-Identifier: Apache-2.0
#include "node/templates.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/bytes.h"
#include "base/id.h"
#include "frame/keeper.h"
#include "hash/sha256.h"
#include "image/store.h"

namespace cordon::node {
namespace {

constexpr std::string_view kSource = "template:";
constexpr std::size_t kIdBytes = 12;

// What stands before `mark`, which is taken off with it.
std::optional<std::string_view> cut(std::string_view& text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(at + 1);
  return before;
}

bool read_number(std::string_view text, std::uint64_t& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string template_id(std::string_view owner, std::string_view alias) {
  const Digest digest = sha256({as_bytes(owner), as_bytes("/"), as_bytes(alias)});
  return base32(std::span<const std::byte>{digest}.first(kIdBytes));
}

std::string Template::id() const { return template_id(owner, alias); }

std::string image_name_of(std::string_view build) {
  return fmt::format("{}{}", frame::kNodeImages, build);
}

std::string source_of(const Template& known) {
  return fmt::format("{}{}/{};{};{}:{}", kSource, known.owner, known.alias, known.processors,
                     known.memory_megabytes, fmt::join(known.tags, ","));
}

std::optional<Template> template_from(const image::Image& image) {
  if (!image.name.starts_with(frame::kNodeImages) || !image.source.starts_with(kSource)) {
    return std::nullopt;
  }
  std::string_view rest{image.source};
  rest.remove_prefix(kSource.size());
  const auto owner = cut(rest, '/');
  const auto alias = cut(rest, ';');
  const auto processors = cut(rest, ';');
  const auto memory = cut(rest, ':');
  if (!owner || !alias || !processors || !memory) return std::nullopt;
  Template known{.owner = std::string{*owner},
                 .alias = std::string{*alias},
                 .tags = {},
                 .build = image.name.substr(frame::kNodeImages.size()),
                 .image = image};
  if (!read_number(*processors, known.processors) || !read_number(*memory, known.memory_megabytes))
    return std::nullopt;
  while (const auto tag = cut(rest, ',')) known.tags.emplace_back(*tag);
  if (!rest.empty()) known.tags.emplace_back(rest);
  return known;
}

Result<std::vector<Template>> templates_in(const std::string& store, std::string_view owner) {
  std::vector<Template> found;
  if (store.empty()) return found;
  const auto opened = image::Store::open(store);
  if (!opened && opened.error().code() == Errc::not_found) return found;
  if (!opened) return opened.error();
  TRY(const std::vector<image::Image> images, opened->list());
  for (const image::Image& each : images) {
    auto known = template_from(each);
    if (known && (owner.empty() || known->owner == owner)) found.push_back(*std::move(known));
  }
  return found;
}

Result<std::optional<Template>> find_template(const std::string& store, std::string_view owner,
                                              std::string_view name, std::string_view tag) {
  TRY(std::vector<Template> all, templates_in(store, owner));
  for (Template& each : all) {
    const bool is_it = each.alias == name || each.id() == name;
    const bool has_tag = std::ranges::find(each.tags, tag) != each.tags.end();
    if (is_it && has_tag) return std::optional{std::move(each)};
  }
  return std::optional<Template>{};
}

std::vector<std::string> environment_of(const std::string& store, std::string_view image) {
  if (store.empty()) return {};
  const auto opened = image::Store::open(store);
  if (!opened) return {};
  auto found = opened->find(image);
  return found ? std::move(found->config.environment) : std::vector<std::string>{};
}

async::Task<void> set_tags(ImageKeeper& keeper, Template known) {
  std::string name = image_name_of(known.build);
  frame::ToKeeper wanted = frame::ForgetImage{name};
  if (!known.tags.empty()) wanted = frame::RelabelImage{std::move(name), source_of(known)};
  CO_TRY_DO(co_await keeper.ask(std::move(wanted)));
  co_return Status{};
}

}  // namespace cordon::node
