// SPDX-License-Identifier: Apache-2.0
#include "policy/extend.h"

#include <algorithm>
#include <cassert>
#include <functional>

#include <fmt/format.h>

#include "policy/parse.h"
#include "policy/presets.h"
#include "policy/spelling.h"
#include "policy/text.h"

namespace cordon::policy {
namespace {

// Lays `over` upon `under`, all but its sources: those begin at `shift` in the merged document.
class Merge {
 public:
  Merge(PolicyDocument& under, const PolicyDocument& over, std::size_t shift)
      : under_{under}, shift_{static_cast<std::uint32_t>(shift)} {
    value(under_.isolation, over.isolation);
    list(under_.require, over.require);
    filesystem(over.filesystem);
    listed(under_.environment.pass, over.environment.pass);
    listed_by(under_.environment.set, over.environment.set, &Variable::name);
    value(under_.process.user, over.process.user);
    listed(under_.process.capabilities, over.process.capabilities);
    network(over.network);
    resources(over.resources);
    value(under_.credentials.mode, over.credentials.mode);
    value(under_.credentials.secret_scanning, over.credentials.secret_scanning);
    listed_by(under_.credentials.grants, over.credentials.grants, &Grant::name);
    value(under_.profile, over.profile);
    listed(under_.record, over.record);
    listed(under_.output.scan, over.output.scan);
    value(under_.output.on_finding, over.output.on_finding);
    list(under_.responses, over.responses);
    tools(over.tools);
    list(under_.keys, over.keys);
  }

 private:
  template <class T>
  void value(Maybe<T>& under, const Maybe<T>& over) {
    if (!over) return;
    under = over;
    under->place.source += shift_;
  }

  template <class T>
  void list(std::vector<T>& under, const std::vector<T>& over) {
    for (const T& item : over) {
      under.push_back(item);
      under.back().place.source += shift_;
    }
  }

  template <class T>
  void listed(Listed<T>& under, const Listed<T>& over) {
    if (!over.place) return;
    under.place = over.place;
    under.place->source += shift_;
    list(under.items, over.items);
  }

  // An item of the document stands in for a preset's of the same name: a mount at the same target,
  // a grant, a variable.
  template <class T, class Name>
  void listed_by(Listed<T>& under, const Listed<T>& over, Name name) {
    std::erase_if(under.items, [&](const T& item) {
      return std::ranges::find(over.items, std::invoke(name, item), name) != over.items.end();
    });
    listed(under, over);
  }

  void filesystem(const Filesystem& over) {
    Filesystem& under = under_.filesystem;
    value(under.root, over.root);
    value(under.workspace, over.workspace);
    value(under.mode, over.mode);
    listed_by(under.host_mounts, over.host_mounts, &HostMount::target);
    listed(under.hide, over.hide);
    listed(under.protect, over.protect);
    value(under.review, over.review);
  }

  void network(const Network& over) {
    Network& under = under_.network;
    value(under.mode, over.mode);
    listed(under.egress_allowlist, over.egress_allowlist);
    listed(under.egress_denylist, over.egress_denylist);
    value(under.ask, over.ask);
    if (over.ingress.place && over.ingress.items.empty()) under.ingress.items.clear();  // deny_all
    listed(under.ingress, over.ingress);
    listed(under.host_ports, over.host_ports);
    value(under.requests_per_minute, over.requests_per_minute);
    value(under.connections, over.connections);
    value(under.bandwidth, over.bandwidth);
  }

  void resources(const Resources& over) {
    Resources& under = under_.resources;
    value(under.milli_cpus, over.milli_cpus);
    value(under.memory, over.memory);
    value(under.pids, over.pids);
    value(under.disk, over.disk);
    value(under.inodes, over.inodes);
    value(under.open_files, over.open_files);
    value(under.io, over.io);
    value(under.wall_seconds, over.wall_seconds);
    value(under.cpu_seconds, over.cpu_seconds);
    value(under.output, over.output);
    value(under.egress, over.egress);
  }

  void tools(const std::vector<ToolServer>& over) {
    for (const ToolServer& server : over) {
      auto known = std::ranges::find(under_.tools, server.name, &ToolServer::name);
      if (known == under_.tools.end()) {
        under_.tools.push_back(
            {server.name, {}, {server.place.source + shift_, server.place.mark}});
        known = under_.tools.end() - 1;
      }
      list(known->rules, server.rules);
    }
  }

  PolicyDocument& under_;
  std::uint32_t shift_;
};

PolicyDocument parse_preset(const Preset& preset) {
  Result<PolicyDocument> document =
      parse(preset.text, fmt::format("preset:{}", preset.name), Syntax::toml);
  assert(document && "a preset in the binary parses: a test reads every one");
  document->sources[0].origin = Origin::builtin;
  return *std::move(document);
}

// The presets named, each once, those that a preset extends before it.
class Ancestry {
 public:
  void add(const std::vector<Stated<std::string>>& names) {
    for (const auto& name : names) {
      const Preset* const preset = find_preset(name.value);
      if (preset == nullptr || std::ranges::find(seen_, preset) != seen_.end()) continue;
      seen_.push_back(preset);
      PolicyDocument document = parse_preset(*preset);
      add(document.extends);
      order_.push_back(std::move(document));
    }
  }
  const std::vector<PolicyDocument>& order() const { return order_; }

 private:
  std::vector<const Preset*> seen_;
  std::vector<PolicyDocument> order_;
};

}  // namespace

PolicyDocument extend(const PolicyDocument& document, Problems& problems) {
  if (document.extends.empty()) return document;
  std::vector<std::string_view> known;
  for (const Preset& preset : all_presets()) known.push_back(preset.name);
  for (const auto& name : document.extends) {
    if (find_preset(name.value) != nullptr) continue;
    problems.add(name.place.mark, fmt::format("`extends`: there is no preset {}; there are {}{}",
                                              in_quotes(name.value), fmt::join(known, ", "),
                                              did_you_mean(name.value, known)));
  }
  Ancestry ancestry;
  ancestry.add(document.extends);
  PolicyDocument merged;
  merged.sources = document.sources;
  for (const PolicyDocument& preset : ancestry.order()) {
    Merge{merged, preset, merged.sources.size()};
    merged.sources.insert(merged.sources.end(), preset.sources.begin(), preset.sources.end());
  }
  Merge{merged, document, 0};
  merged.extends = document.extends;
  return merged;
}

PolicyDocument lay_over(const PolicyDocument& over, const PolicyDocument& under) {
  PolicyDocument merged;
  merged.sources = over.sources;
  const std::size_t shift = merged.sources.size();
  Merge{merged, under, shift};
  merged.sources.insert(merged.sources.end(), under.sources.begin(), under.sources.end());
  Merge{merged, over, 0};
  merged.extends = over.extends;
  for (Stated<std::string> name : under.extends) {
    name.place.source += static_cast<std::uint32_t>(shift);
    merged.extends.push_back(std::move(name));
  }
  return merged;
}

}  // namespace cordon::policy
