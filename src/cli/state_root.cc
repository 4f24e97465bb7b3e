// SPDX-License-Identifier: Apache-2.0
#include "cli/state_root.h"

#include <unistd.h>

namespace cordon::cli {
namespace {

// Where a user's files of one kind are, by the rules of XDG.
struct Place {
  const char* variable;
  std::string in_home;
  std::string in_either;  // behind both of them
  std::string of_root;    // where root has no home
};

Result<std::string> find(const Place& place, const Context& context) {
  const auto path_in = [&](const char* name) {
    auto value = context.environment(name);
    return value && value->starts_with('/') ? *std::move(value) : std::string{};
  };
  if (const std::string named = path_in(place.variable); !named.empty()) {
    return named + place.in_either;
  }
  if (const std::string home = path_in("HOME"); !home.empty()) {
    return home + place.in_home + place.in_either;
  }
  if (::geteuid() == 0) return place.of_root;
  return Error{Errc::not_found,
               std::string{"neither "} + place.variable + " nor HOME is an absolute path"};
}

}  // namespace

Result<std::string> state_root(const Context& context) {
  return find({.variable = "XDG_STATE_HOME",
               .in_home = "/.local/state",
               .in_either = "/cordon",
               .of_root = "/var/lib/cordon"},
              context);
}

Result<std::string> notary_root(const Context& context) { return data_root(context, "notary"); }

Result<std::string> data_root(const Context& context, const std::string& name) {
  return find({.variable = "XDG_DATA_HOME",
               .in_home = "/.local/share",
               .in_either = "/cordon/" + name,
               .of_root = "/var/lib/cordon-" + name},
              context);
}

}  // namespace cordon::cli
