// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/template_request.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/e2b/message.h"

namespace cordon::api::e2b {
namespace {

constexpr std::size_t kLongestAlias = 64;
constexpr std::size_t kLongestTag = 64;
constexpr std::int64_t kMostProcessors = 1024;
constexpr std::int64_t kLeastMemory = 16;
constexpr std::int64_t kMostMemory = 1 << 20;
constexpr std::size_t kLongestArgument = std::size_t{64} << 10U;
// What the package builds from where nothing else is named.
constexpr std::string_view kTheirBase = "e2bdev/base";

struct Kind {
  std::string_view name;
  StepKind kind;
  std::size_t least;
  std::size_t most;
};
constexpr std::array kKinds = {Kind{"ENV", StepKind::env, 2, 512},
                               Kind{"WORKDIR", StepKind::workdir, 1, 1},
                               Kind{"USER", StepKind::user, 1, 1}, Kind{"RUN", StepKind::run, 1, 2},
                               Kind{"COPY", StepKind::copy, 2, 4}};

bool is_small(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_alias(std::string_view text) {
  return !text.empty() && text.size() <= kLongestAlias && is_small(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_small(c) || c == '-' || c == '_'; });
}

bool is_tag(std::string_view text) {
  return !text.empty() && text.size() <= kLongestTag && std::ranges::all_of(text, [](char c) {
    return is_small(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
  });
}

Error not_a_name(std::string_view text) {
  return Error{Errc::invalid,
               fmt::format("\"{}\" is no name of a template: 1 to {} of a-z, 0-9, - and _, and "
                           "perhaps a tag behind a colon",
                           text, kLongestAlias)};
}

Result<BuildStep> read_step(const Message& message, std::size_t number) {
  TRY(const auto type, message.text("type"));
  const auto known = std::ranges::find(kKinds, type.value_or(""), &Kind::name);
  if (known == kKinds.end()) {
    return Error{Errc::invalid, fmt::format("step {}: \"{}\" is none that this node knows; it "
                                            "knows ENV, WORKDIR, USER, RUN and COPY",
                                            number, type.value_or(""))};
  }
  BuildStep step{.kind = known->kind, .arguments = {}, .files = {}};
  TRY(step.arguments, message.texts("args"));
  const std::size_t count = step.arguments.size();
  const bool is_odd = known->kind == StepKind::env && count % 2 != 0;
  if (count < known->least || count > known->most || is_odd) {
    return Error{Errc::invalid,
                 fmt::format("step {}: {} with {} arguments", number, known->name, count)};
  }
  for (const std::string& argument : step.arguments) {
    if (argument.size() > kLongestArgument || argument.find('\0') != std::string::npos) {
      return Error{Errc::invalid,
                   fmt::format("step {}: an argument is too long, or has a NUL", number)};
    }
  }
  if (step.kind != StepKind::copy) return step;
  TRY(const auto files, message.text("filesHash"));
  if (!files || !is_files_digest(*files)) {
    return Error{Errc::invalid,
                 fmt::format("step {}: COPY without the digest of its files", number)};
  }
  step.files = *files;
  return step;
}

}  // namespace

bool is_files_digest(std::string_view text) noexcept {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Result<TemplateName> read_template_name(std::string_view text) {
  std::string_view rest = text;
  if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos) {
    if (!is_alias(rest.substr(0, slash))) return not_a_name(text);
    rest.remove_prefix(slash + 1);
  }
  TemplateName name;
  if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    name.tag = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
  }
  if (!is_alias(rest) || !is_tag(name.tag)) return not_a_name(text);
  name.alias = rest;
  return name;
}

Result<std::vector<std::string>> read_tags(std::vector<std::string> tags) {
  std::ranges::sort(tags);
  const auto repeated = std::ranges::unique(tags);
  tags.erase(repeated.begin(), repeated.end());
  if (tags.empty() || tags.size() > kMostTags) {
    return Error{Errc::invalid, fmt::format("`tags`: 1 to {} of them", kMostTags)};
  }
  const auto odd = std::ranges::find_if_not(tags, is_tag);
  if (odd == tags.end()) return tags;
  return Error{Errc::invalid, fmt::format("`tags`: \"{}\" is none: 1 to {} of a-z, A-Z, 0-9, -, _ "
                                          "and .",
                                          *odd, kLongestTag)};
}

Result<NewTemplate> read_new_template(std::string_view body) {
  TRY(const Message message, Message::read(body));
  TRY(auto named, message.text("name"));
  if (!named) {
    TRY(named, message.text("alias"));
  }
  TRY(TemplateName name, read_template_name(named.value_or("")));
  TRY(std::vector<std::string> tags, message.texts("tags"));
  if (tags.empty() || name.tag != kUsualTag) tags.push_back(name.tag);
  TRY(tags, read_tags(std::move(tags)));
  TRY(const auto processors, message.number("cpuCount"));
  TRY(const auto memory, message.number("memoryMB"));
  if (processors.value_or(1) < 1 || processors.value_or(1) > kMostProcessors ||
      memory.value_or(kLeastMemory) < kLeastMemory || memory.value_or(0) > kMostMemory) {
    return Error{Errc::invalid, fmt::format("`cpuCount` is from 1 to {}, `memoryMB` from {} to {}",
                                            kMostProcessors, kLeastMemory, kMostMemory)};
  }
  return NewTemplate{std::move(name.alias), std::move(tags),
                     static_cast<std::uint64_t>(processors.value_or(0)),
                     static_cast<std::uint64_t>(memory.value_or(0))};
}

Result<TagRequest> read_tag_request(std::string_view body, std::string_view name_field) {
  TRY(const Message message, Message::read(body));
  TRY(const auto named, message.text(name_field));
  TRY(TemplateName name, read_template_name(named.value_or("")));
  TRY(std::vector<std::string> tags, message.texts("tags"));
  TRY(tags, read_tags(std::move(tags)));
  return TagRequest{std::move(name), std::move(tags)};
}

Result<BuildOrder> read_build_order(std::string_view body) {
  TRY(const Message message, Message::read(body));
  if (message.has("fromImageRegistry")) {
    return Error{Errc::invalid,
                 "`fromImageRegistry`: this node fetches nothing from registries; "
                 "its operator does, by `cordon image pull`"};
  }
  BuildOrder order;
  TRY(const auto image, message.text("fromImage"));
  TRY(const auto from_template, message.text("fromTemplate"));
  TRY(const auto start, message.text("startCmd"));
  TRY(const auto ready, message.text("readyCmd"));
  order.image = local_image(image.value_or(""));
  order.from_template = from_template.value_or("");
  order.start = start.value_or("");
  order.ready = ready.value_or("");
  TRY(const std::vector<Message> steps, message.objects("steps"));
  if (steps.size() > kMostSteps) {
    return Error{Errc::invalid, fmt::format("`steps`: more than {}", kMostSteps)};
  }
  for (const Message& each : steps) {
    TRY(BuildStep step, read_step(each, order.steps.size() + 1));
    order.steps.push_back(std::move(step));
  }
  return order;
}

std::string local_image(std::string_view reference) {
  for (const std::string_view host : {"docker.io/", "library/"}) {
    if (reference.starts_with(host)) reference.remove_prefix(host.size());
  }
  if (reference == kTheirBase || reference.starts_with("e2bdev/base:")) return {};
  if (reference.ends_with(":latest")) reference.remove_suffix(std::string_view{":latest"}.size());
  std::string name{reference};
  std::ranges::replace_if(name, [](char c) { return c == ':' || c == '/'; }, '-');
  return name;
}

}  // namespace cordon::api::e2b
