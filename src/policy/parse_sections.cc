// SPDX-License-Identifier: Apache-2.0
// Sections that are plain values: files, environment, process, resources, requirements, responses.
#include "policy/parse_sections.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "policy/glob.h"
#include "policy/image_name.h"
#include "policy/shape.h"
#include "policy/spelling.h"
#include "policy/text.h"
#include "record/host_facts.h"

namespace cordon::policy {
namespace {

std::string_view after(std::string_view text, std::string_view prefix) {
  return text.substr(prefix.size());
}

Maybe<Root> parse_root(const Section& section) {
  const auto text = section.text("root");
  if (!text) return std::nullopt;
  const std::string_view given = text->value;
  if (given == "host") return Stated<Root>{{RootKind::host, {}}, text->place};
  if (given.starts_with("image:") && is_image_name(after(given, "image:"))) {
    return Stated<Root>{{RootKind::image, std::string{after(given, "image:")}}, text->place};
  }
  if (given.starts_with("dir:") && is_normal_path(after(given, "dir:"))) {
    return Stated<Root>{{RootKind::dir, std::string{after(given, "dir:")}}, text->place};
  }
  section.problem(
      "root", fmt::format("`root`: {} is not known; write \"image:NAME\" (a-z, 0-9, -, _ and .), "
                          "\"dir:/ABSOLUTE/PATH\" or \"host\"",
                          in_quotes(given)));
  return std::nullopt;
}

// Trees that a sandbox has for itself: nothing may be put over or above them.
constexpr std::string_view kReservedTrees[] = {"/proc", "/sys", "/dev"};

void check_target(const Section& section, std::string_view name, const std::string& target) {
  if (!is_normal_path(target) || target == "/") {
    section.problem(
        name,
        fmt::format("`{}`: {} must be an absolute path inside, without `.`, `..`, `//` or a slash "
                    "at the end, and not `/` itself",
                    name, in_quotes(target)));
    return;
  }
  for (const std::string_view own : kReservedTrees) {
    if (below(target, own)) {
      section.problem(
          name, fmt::format("`{}`: {} belongs to the sandbox itself; choose a path outside {}",
                            name, in_quotes(target), own));
    }
  }
}

HostMount parse_mount(const Section& section) {
  HostMount mount;
  mount.source = section.required("source", "an item of `host_mounts`");
  mount.target = section.required("target", "an item of `host_mounts`");
  if (const auto mode = choice_of(section, "mode", {Mode::read_only, Mode::read_write}))
    mount.mode = mode->value;
  if (auto why = section.text("why")) mount.why = std::move(why->value);
  mount.place = section.place();
  const bool home = mount.source == "~" || mount.source.starts_with("~/");
  if (mount.source == "/" || mount.source == "~") {
    section.problem("source", fmt::format("`source`: {} is too wide: it shows every secret there; "
                                          "name the directories",
                                          in_quotes(mount.source)));
  } else if (!mount.source.empty() &&
             !is_normal_path(home ? "/home" + mount.source.substr(1) : mount.source)) {
    section.problem(
        "source",
        fmt::format("`source`: {} must be an absolute path or below ~, without `.`, `..`, `//` "
                    "or a slash at the end",
                    in_quotes(mount.source)));
  }
  if (!mount.target.empty()) check_target(section, "target", mount.target);
  return mount;
}

Listed<Stated<std::string>> parse_patterns(const Section& section, std::string_view name) {
  auto patterns = section.texts(name);
  for (const auto& pattern : patterns.items) {
    if (const Status status = check_path_pattern(pattern.value); !status) {
      section.problems().add(pattern.place.mark,
                             fmt::format("`{}`: {}", name, status.error().text()));
    }
  }
  return patterns;
}

// Names under which `require` may ask for a mechanism.
constexpr Feature kRequirable[] = {
    Feature::user_namespaces, Feature::seccomp,         Feature::landlock,       Feature::cgroup,
    Feature::overlay,         Feature::idmapped_mounts, Feature::network_filter, Feature::kvm};

Requirement parse_requirement(const Stated<std::string>& text, Problems& problems) {
  Requirement requirement{.name = text.value, .least = 0, .place = text.place};
  if (const auto colon = text.value.find(':'); colon != std::string::npos) {
    requirement.name = text.value.substr(0, colon);
    const std::string_view digits = std::string_view{text.value}.substr(colon + 1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), requirement.least);
    if (requirement.name != "landlock" || error != std::errc{} ||
        end != digits.data() + digits.size() || requirement.least < 1 || requirement.least > 99) {
      problems.add(
          text.place.mark,
          fmt::format("`require`: {}: only landlock takes a number, its ABI: \"landlock:4\"",
                      in_quotes(text.value)));
      return requirement;
    }
  }
  std::vector<std::string_view> known;
  for (const Feature feature : kRequirable) known.push_back(to_string(feature));
  if (std::ranges::find(known, requirement.name) == known.end()) {
    problems.add(text.place.mark, fmt::format("`require`: {} is not known; allowed: {}{}",
                                              in_quotes(requirement.name), fmt::join(known, ", "),
                                              did_you_mean(requirement.name, known)));
  }
  return requirement;
}

Maybe<std::uint64_t> parse_cpus(const Section& section) {
  const Value* const value = section.find("cpu_limit");
  if (value == nullptr) return std::nullopt;
  const std::int64_t milli = value->integer() != nullptr
                                 ? *value->integer() * 1000
                                 : milli_cpus_from(*value->text()).value_or(0);
  return Stated<std::uint64_t>{static_cast<std::uint64_t>(milli), {0, value->mark}};
}

}  // namespace

bool is_variable_name(std::string_view name) {
  const auto is_word = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  return !name.empty() && name.size() <= 128 && is_word(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_word(c) || (c >= '0' && c <= '9'); });
}

Filesystem parse_filesystem(const Section& section) {
  Filesystem filesystem;
  filesystem.root = parse_root(section);
  filesystem.workspace = section.text("workspace");
  if (filesystem.workspace) check_target(section, "workspace", filesystem.workspace->value);
  filesystem.mode = choice_of(section, "mode", {Mode::read_only, Mode::read_write});
  if (const Value* const mounts = section.find("host_mounts"))
    filesystem.host_mounts.place = Place{0, mounts->mark};
  for (const Section& item : section.tables("host_mounts")) {
    HostMount mount = parse_mount(item);
    const auto twin =
        std::ranges::find(filesystem.host_mounts.items, mount.target, &HostMount::target);
    if (twin != filesystem.host_mounts.items.end() && !mount.target.empty()) {
      item.problem("target", fmt::format("`target`: {} has a mount already, on line {}",
                                         in_quotes(mount.target), twin->place.mark.line));
    }
    if (filesystem.workspace && filesystem.workspace->value == mount.target) {
      item.problem("target", fmt::format("`target`: {} is the workspace; choose another path",
                                         in_quotes(mount.target)));
    }
    filesystem.host_mounts.items.push_back(std::move(mount));
  }
  filesystem.hide = parse_patterns(section, "hide");
  filesystem.protect = parse_patterns(section, "protect");
  filesystem.review = section.boolean("review");
  return filesystem;
}

Environment parse_environment(const Section& section) {
  Environment environment;
  environment.pass = section.texts("pass");
  for (const auto& pattern : environment.pass.items) {
    std::string_view name = pattern.value;
    if (name == "*") {
      section.problems().add(pattern.place.mark,
                             "`pass`: `*` is too wide: it would hand over every secret of the "
                             "caller's environment; name the variables");
      continue;
    }
    if (name.ends_with('*')) name.remove_suffix(1);
    if (!is_variable_name(name)) {
      section.problems().add(pattern.place.mark,
                             fmt::format("`pass`: {} is no variable name (A-Z, a-z, 0-9, _; a `*` "
                                         "only at the end)",
                                         in_quotes(pattern.value)));
    }
  }
  if (const Value* const set = section.find("set")) {
    environment.set.place = Place{0, set->mark};
    for (const Entry& entry : *set->table()) {
      if (!is_variable_name(entry.key)) {
        section.problems().add(
            entry.mark,
            fmt::format("`set`: {} is no variable name (A-Z, a-z, 0-9, _)", in_quotes(entry.key)));
      }
      environment.set.items.push_back({entry.key, *entry.value.text(), {0, entry.mark}});
    }
  }
  return environment;
}

Process parse_process(const Section& section) {
  return {choice_of(section, "user", {User::user, User::root, User::either}),
          section.texts("capabilities")};
}

Resources parse_resources(const Section& section) {
  return {
      .milli_cpus = parse_cpus(section),
      .memory = section.size("memory_limit"),
      .pids = section.integer("pids_limit"),
      .disk = section.size("disk_limit"),
      .inodes = section.integer("inodes_limit"),
      .open_files = section.integer("open_files"),
      .io = section.size("io_limit"),
      .wall_seconds = section.integer("timeout_seconds"),
      .cpu_seconds = section.integer("cpu_seconds"),
      .output = section.size("output_limit"),
      .egress = section.size("egress_limit"),
  };
}

std::vector<Requirement> parse_require(const Section& top) {
  std::vector<Requirement> all;
  for (const auto& text : top.texts("require").items)
    all.push_back(parse_requirement(text, top.problems()));
  return all;
}

std::vector<Response> parse_responses(const Section& top) {
  std::vector<Response> all;
  for (const Section& item : top.tables("response")) {
    Response response;
    response.when = item.required("when", "a [[response]]");
    response.then = item.required("then", "a [[response]]");
    if (const auto count = item.integer("more_than")) {
      response.more_than = count->value;
    } else {
      item.problem("more_than", "a [[response]] needs `more_than`");
    }
    if (const auto seconds = item.integer("within_seconds"))
      response.within_seconds = seconds->value;
    response.place = item.place();
    all.push_back(std::move(response));
  }
  return all;
}

}  // namespace cordon::policy
