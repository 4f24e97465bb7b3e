// SPDX-License-Identifier: Apache-2.0
// cordon doctor for programs.
#include <initializer_list>
#include <string_view>

#include "base/log.h"
#include "cli/doctor_report.h"

namespace cordon::cli {
namespace {

std::string json_quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string number(const std::optional<std::uint64_t>& count) {
  return count ? std::to_string(*count) : "null";
}

template <class Values, class ToText>
std::string array_of(const Values& values, ToText to_text) {
  std::string out = "[";
  for (const auto& value : values) {
    if (out.size() > 1) out += ',';
    out += json_quoted(to_text(value));
  }
  return out + ']';
}

struct Member {
  std::string_view name;
  std::string json;
};

std::string object_of(std::initializer_list<Member> members) {
  std::string out = "{";
  for (const Member& member : members) {
    if (out.size() > 1) out += ',';
    out += json_quoted(member.name) + ':' + member.json;
  }
  return out + '}';
}

// One line for each fact, so that two reports can be compared by eye and by diff.
std::string facts_of(const HostFacts& host) {
  std::string out = "{";
  for (const Feature feature : all_features()) {
    const Fact& fact = host[feature];
    out += out.size() > 1 ? ",\n" : "\n";
    out += "    " + json_quoted(to_string(feature)) + ": " +
           object_of({{"support", json_quoted(to_string(fact.support))},
                      {"detail", json_quoted(fact.detail)},
                      {"remedy", json_quoted(fact.remedy)}});
  }
  return out + "\n  }";
}

}  // namespace

std::string doctor_json(const DoctorReport& report) {
  const HostFacts& host = report.host;
  const auto as_is = [](const std::string& text) -> std::string_view { return text; };
  const std::string cgroup = object_of({{"layout", json_quoted(to_string(host.cgroup_layout))},
                                        {"controllers", array_of(host.controllers, as_is)}});
  const std::string capacity = object_of({{"sandboxes", number(sandboxes_of(host.capacity))},
                                          {"by_fds", number(host.capacity.by_fds)},
                                          {"by_pids", number(host.capacity.by_pids)},
                                          {"by_ids", number(host.capacity.by_ids)}});
  const std::initializer_list<Member> members = {
      {"version", json_quoted(CORDON_VERSION)},
      {"kernel", json_quoted(host.kernel)},
      {"machine", json_quoted(host.machine)},
      {"system", json_quoted(host.system)},
      {"root", host.root ? "true" : "false"},
      {"level", json_quoted(to_string(report.reached.level))},
      {"missing", array_of(report.reached.missing, [](Feature f) { return to_string(f); })},
      {"facts", facts_of(host)},
      {"landlock_abi", std::to_string(host.landlock_abi)},
      {"cgroup", cgroup},
      {"capacity", capacity},
      {"probe_ms", std::to_string(report.probe_time.count())},
  };
  std::string out = "{";
  for (const Member& member : members) {
    out += out.size() > 1 ? ",\n  " : "\n  ";
    out += json_quoted(member.name) + ": " + member.json;
  }
  return out + "\n}\n";
}

}  // namespace cordon::cli
