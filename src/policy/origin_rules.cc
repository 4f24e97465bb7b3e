// SPDX-License-Identifier: Apache-2.0
#include "policy/origin_rules.h"

#include <fmt/format.h>

#include "policy/text.h"

namespace cordon::policy {
namespace {

class HostThings {
 public:
  HostThings(const PolicyDocument& document, Origin origin, Problems& problems)
      : document_{document}, origin_{origin}, problems_{problems} {}

  void check() {
    const Filesystem& filesystem = document_.filesystem;
    if (filesystem.root && filesystem.root->value.kind != RootKind::image) {
      refuse(filesystem.root->place,
             fmt::format("root = \"{}\" shows files of the host", text_of(filesystem.root->value)),
             "use \"image:NAME\"");
    }
    for (const HostMount& mount : filesystem.host_mounts.items) {
      refuse(mount.place,
             fmt::format("a mount of {} shows files of the host", in_quotes(mount.source)),
             "upload them instead, or ask the user or operator to mount them");
    }
    for (const Port& port : document_.network.host_ports.items) {
      refuse(port.place, fmt::format("host_ports: {} is a port of the host", port.value),
             "leave it out");
    }
    for (const EgressRule& rule : document_.network.egress_allowlist.items) {
      if (rule.addresses == Addresses::private_) {
        refuse(rule.place,
               fmt::format("{} with addresses = \"private\" reaches the host's own network",
                           in_quotes(to_string(rule.host))),
               "leave `addresses` out");
      }
    }
    for (const Grant& grant : document_.credentials.grants.items) check(grant);
  }

 private:
  static std::string text_of(const Root& root) {
    return root.kind == RootKind::dir ? "dir:" + printable(root.name) : "host";
  }

  void check(const Grant& grant) {
    if (origin_ == Origin::workspace) {
      refuse(grant.place, fmt::format("grant {} uses a secret", in_quotes(grant.name)),
             "put it into your own policy file");
    } else if (grant.source != SecretSource::secret) {
      refuse(grant.place,
             fmt::format("from = \"{}:…\" reads a secret of the host", to_string(grant.source)),
             "use \"secret:NAME\", a secret of the tenant");
    }
  }

  void refuse(Place place, std::string_view what, std::string_view instead) {
    const Source& source = document_.sources[place.source];
    const std::string via =
        place.source == 0 ? std::string{} : fmt::format(" (through {})", source.name);
    const std::string_view who = origin_ == Origin::workspace
                                     ? "a workspace file may only narrow"
                                     : "a request may not name things of the host";
    // A preset's own line tells nothing to the writer of the document: point at what extends it.
    const Mark mark = place.source == 0           ? place.mark
                      : document_.extends.empty() ? Mark{}
                                                  : document_.extends.front().place.mark;
    problems_.add(mark, fmt::format("{}{}: {}; {}", what, via, who, instead));
  }

  const PolicyDocument& document_;
  Origin origin_;
  Problems& problems_;
};

}  // namespace

void check_origin(const PolicyDocument& document, Origin origin, Problems& problems) {
  if (origin == Origin::request || origin == Origin::workspace)
    HostThings{document, origin, problems}.check();
}

}  // namespace cordon::policy
