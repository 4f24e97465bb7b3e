// SPDX-License-Identifier: Apache-2.0
#include "policy/describe.h"

#include <algorithm>

#include <fmt/format.h>

#include "policy/checked.h"
#include "record/quantity.h"

namespace cordon::policy {
namespace {

class Describe {
 public:
  explicit Describe(const CheckedDocument& checked)
      : checked_{checked}, document_{checked.document()} {}

  Description all() {
    description_.file = document_.sources.front().name;
    description_.origin = checked_.origin();
    for (const auto& preset : document_.extends) description_.presets.push_back(preset.value);
    isolation();
    files();
    environment();
    network();
    limits();
    credentials();
    watch();
    tools();
    unenforced();
    return std::move(description_);
  }

 private:
  void line(std::string_view topic, std::string text, Place place) {
    const std::string at = place.mark.line == 0 ? "default" : to_string(document_, place);
    description_.lines.push_back({std::string{topic}, std::move(text), at});
  }
  void line(std::string_view topic, std::string text) { line(topic, std::move(text), Place{}); }
  // Items of one list that stand on one line of the file are told in one line.
  void listed(std::string_view topic, std::string_view verb,
              const std::vector<Stated<std::string>>& items) {
    for (std::size_t i = 0; i < items.size();) {
      const Place place = items[i].place;
      std::string text = fmt::format("{} {}", verb, items[i].value);
      for (++i; i < items.size() && same_line(items[i].place, place); ++i)
        text += ", " + items[i].value;
      line(topic, std::move(text), place);
    }
  }
  static bool same_line(Place a, Place b) {
    return a.source == b.source && a.mark.line == b.mark.line;
  }

  // A workspace file that does not say a thing says nothing about it.
  bool silent() const { return checked_.narrows_only(); }

  void isolation() {
    if (document_.isolation) {
      line("isolation", std::string{to_string(document_.isolation->value)},
           document_.isolation->place);
    } else if (!silent()) {
      line("isolation", "process");
    }
    for (const Requirement& requirement : document_.require) {
      line("isolation",
           fmt::format("refuses to start without {}{}", requirement.name,
                       requirement.least > 0 ? fmt::format(", ABI {}", requirement.least) : ""),
           requirement.place);
    }
    if (document_.profile) {
      line("isolation",
           fmt::format("system calls: profile {}", to_string(document_.profile->value)),
           document_.profile->place);
    }
    if (document_.process.user && document_.process.user->value == User::root) {
      line("isolation", "runs as id 0 inside, which has no power outside",
           document_.process.user->place);
    }
    if (document_.process.user && document_.process.user->value == User::either) {
      line("isolation", "may run processes as id 0 inside, which has no power outside",
           document_.process.user->place);
    }
    for (const auto& capability : document_.process.capabilities.items) {
      line("isolation",
           fmt::format("keeps the capability {} over its own namespace", capability.value),
           capability.place);
    }
  }

  void files() {
    const Filesystem& files = document_.filesystem;
    if (files.root) {
      const Root& root = files.root->value;
      line("files",
           root.kind == RootKind::host
               ? std::string{"system: /usr, /bin, /sbin, /lib*, /opt and a rebuilt /etc of the "
                             "host, read only"}
               : fmt::format("system: {} {}, read only", to_string(root.kind), root.name),
           files.root->place);
    }
    const bool writable = !files.mode || files.mode->value == Mode::read_write;
    if (files.workspace || files.mode || !silent()) {
      const Place place = files.workspace ? files.workspace->place
                          : files.mode    ? files.mode->place
                                          : Place{};
      line("files",
           fmt::format("workspace: {}, {}",
                       files.workspace ? files.workspace->value : "where the caller puts it",
                       writable ? "may be written" : "may only be read"),
           place);
    }
    if (files.review && files.review->value)
      line("files", "writes wait for review", files.review->place);
    for (const HostMount& mount : files.host_mounts.items) {
      line("files",
           fmt::format("{} {}: {} of the host{}",
                       mount.mode == Mode::read_write ? "may write" : "may read", mount.target,
                       mount.source, because(mount.why)),
           mount.place);
    }
    listed("files", "hides", files.hide.items);
    listed("files", "protects", files.protect.items);
  }

  void environment() {
    listed("environment", "passes", document_.environment.pass.items);
    if (!document_.environment.pass.place && !silent())
      line("environment", "passes LANG, LC_*, TERM, TZ");
    for (const Variable& variable : document_.environment.set.items) {
      line("environment", fmt::format("sets {} = {}", variable.name, variable.value),
           variable.place);
    }
  }

  static std::string because(const std::string& why) {
    return why.empty() ? std::string{} : fmt::format(" ({})", why);
  }

  std::string rule_text(const EgressRule& rule) const {
    if (rule.host.name.empty()) {
      return fmt::format(
          "may reach {}: nothing, because no registry that a rule can reach is configured on this "
          "machine",
          rule.registry);
    }
    std::string text = fmt::format("may reach {}:{} ({})", to_string(rule.host), rule.port,
                                   to_string(rule.protocol));
    if (!rule.registry.empty()) text += fmt::format(", as {}", rule.registry);
    if (!rule.methods.empty()) text += fmt::format(", {}", fmt::join(rule.methods, " "));
    if (!rule.paths.empty()) text += fmt::format(", {}", fmt::join(rule.paths, " "));
    if (rule.websocket) text += ", WebSocket";
    if (rule.addresses == Addresses::private_) text += ", at private addresses too";
    return text + because(rule.why);
  }

  void network() {
    const Network& network = document_.network;
    if (network.mode || !silent()) {
      line("network", mode_text(checked_.network_mode()),
           network.mode ? network.mode->place : Place{});
    }
    for (const EgressRule& rule : network.egress_allowlist.items)
      line("network", rule_text(rule), rule.place);
    for (const HostDenial& denial : network.egress_denylist.items) {
      line("network", "never reaches " + to_string(denial.host), denial.place);
    }
    if (network.ask && network.ask->value)
      line("network", "asks a human about other hosts", network.ask->place);
    for (const Port& port : network.host_ports.items) {
      line("network", fmt::format("may reach port {} of the host as {}", port.value, kHostName),
           port.place);
    }
    for (const Port& port : network.ingress.items) {
      line("network",
           port.value == kAnyPort ? "the API may tunnel to any port"
                                  : fmt::format("the API may tunnel to port {}", port.value),
           port.place);
    }
    if (network.ingress.place && network.ingress.items.empty()) {
      line("network", "nothing may connect from outside", *network.ingress.place);
    }
    count("network", network.requests_per_minute, "requests a minute");
    count("network", network.connections, "connections at once");
    bytes("network", network.bandwidth, " a second each way");
  }

  static std::string mode_text(NetworkMode mode) {
    switch (mode) {
      case NetworkMode::none:
        return "none: nothing can be reached";
      case NetworkMode::restricted:
        return "restricted: only what is listed can be reached";
      case NetworkMode::public_:
        return "public: any public address on ports 443 and 80";
    }
    return {};
  }

  void count(std::string_view topic, const Maybe<std::uint64_t>& limit, std::string_view of) {
    if (limit) line(topic, fmt::format("at most {} {}", limit->value, of), limit->place);
  }
  void bytes(std::string_view topic, const Maybe<std::uint64_t>& limit, std::string_view of) {
    if (limit)
      line(topic, fmt::format("at most {}{}", to_size_text(limit->value), of), limit->place);
  }

  static std::string cpus_text(std::uint64_t milli) {
    return fmt::format("at most {} processor{}", static_cast<double>(milli) / 1000,
                       milli == 1000 ? "" : "s");
  }

  void limits() {
    const Resources& resources = document_.resources;
    if (resources.milli_cpus) {
      line("limits", cpus_text(resources.milli_cpus->value), resources.milli_cpus->place);
    }
    bytes("limits", resources.memory, " of memory");
    count("limits", resources.pids, "processes and threads");
    bytes("limits", resources.disk, " on its own disk");
    count("limits", resources.inodes, "files on its own disk");
    count("limits", resources.open_files, "open files in a process");
    bytes("limits", resources.io, " a second to and from disk");
    count("limits", resources.wall_seconds, "seconds of wall time");
    count("limits", resources.cpu_seconds, "seconds of processor time");
    bytes("limits", resources.output, " of output");
    bytes("limits", resources.egress, " sent to the network");
  }

  void credentials() {
    const Credentials& credentials = document_.credentials;
    if (credentials.mode) {
      line("credentials",
           credentials.mode->value == CredentialMode::none
               ? "none"
               : "used for the sandbox at the moment they are needed, never seen by it",
           credentials.mode->place);
    }
    if (credentials.secret_scanning && credentials.secret_scanning->value) {
      line("credentials", "what leaves is searched for secrets",
           credentials.secret_scanning->place);
    }
    if (credentials.mode && credentials.mode->value == CredentialMode::none) return;
    for (const Grant& grant : credentials.grants.items) {
      std::string text = fmt::format("{}: {}:{} goes to {}", grant.name, to_string(grant.source),
                                     grant.from, grant.host.name);
      if (!grant.methods.empty()) text += fmt::format(", {}", fmt::join(grant.methods, " "));
      if (!grant.paths.empty()) text += fmt::format(", {}", fmt::join(grant.paths, " "));
      if (!grant.env.empty()) text += fmt::format("; {} holds a placeholder", grant.env);
      line("credentials", text + fmt::format("; for {} s", grant.ttl_seconds), grant.place);
    }
  }

  void watch() {
    listed("record", "records", document_.record.items);
    listed("output", "is searched for", document_.output.scan.items);
    if (document_.output.on_finding) {
      line("output", "a finding leads to: " + document_.output.on_finding->value,
           document_.output.on_finding->place);
    }
    for (const Response& response : document_.responses) {
      line("responses",
           fmt::format("more than {} {} within {} s: {}", response.more_than, response.when,
                       response.within_seconds, response.then),
           response.place);
    }
  }

  void tools() {
    for (const ToolServer& server : document_.tools) {
      for (const ToolRule& rule : server.rules) {
        std::string text = fmt::format("{} {}/{}", to_string(rule.effect), server.name, rule.tool);
        if (!rule.arguments.empty()) text += fmt::format(" with arguments {}", rule.arguments);
        if (rule.calls_per_minute)
          text += fmt::format(", {} calls a minute", *rule.calls_per_minute);
        line("tools", text + because(rule.why), rule.place);
      }
    }
  }

  // Each key once; where both a preset and the document state it, the document's place.
  void unenforced() {
    for (const Key& key : all_keys()) {
      if (is_enforced(key)) continue;
      const StatedKey* stated = nullptr;
      for (const StatedKey& one : document_.keys) {
        if (one.key == &key && !one.neutral) stated = &one;
      }
      if (stated != nullptr)
        description_.unenforced.push_back(
            {std::string{key.path}, to_string(document_, stated->place)});
    }
  }

  const CheckedDocument& checked_;
  const PolicyDocument& document_;
  Description description_;
};

}  // namespace

Description describe(const CheckedDocument& checked) { return Describe{checked}.all(); }

std::string to_text(const Description& description) {
  std::string text = fmt::format("{}  ({})", description.file, to_string(description.origin));
  if (!description.presets.empty())
    text += fmt::format("  extends {}", fmt::join(description.presets, ", "));
  text += '\n';
  std::size_t width = 0;
  for (const DescribedLine& line : description.lines) width = std::max(width, line.at.size());
  for (const UnenforcedKey& key : description.unenforced) width = std::max(width, key.at.size());
  std::string_view topic;
  for (const DescribedLine& line : description.lines) {
    if (line.topic != topic) text += fmt::format("\n{}\n", line.topic);
    topic = line.topic;
    text += fmt::format("  {:<{}}  {}\n", line.at, width, line.text);
  }
  if (!description.unenforced.empty()) {
    text +=
        fmt::format("\nnot enforced by this version ({}): launch refuses them\n", CORDON_VERSION);
    for (const UnenforcedKey& key : description.unenforced) {
      text += fmt::format("  {:<{}}  {}{}\n", key.at, width, key.key,
                          key.key == "tools" ? ", except by `cordon mcp wrap`" : "");
    }
  }
  return text;
}

}  // namespace cordon::policy
