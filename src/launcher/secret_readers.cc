// SPDX-License-Identifier: Apache-2.0
#include "launcher/secret_readers.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "frame/broker.h"
#include "launcher/own_program.h"
#include "os/memfd.h"

namespace cordon::launcher {
namespace {

// A variable is given to its reader alone, and to it nothing else.
std::vector<std::string> environment_for(std::string_view source) {
  constexpr std::string_view kVariable = "env:";
  if (!source.starts_with(kVariable)) return {};
  const std::string name{source.substr(kVariable.size())};
  const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): one thread
  if (value == nullptr) return {};
  return {name + "=" + value};
}

}  // namespace

Result<os::Child> start_reader(const SecretSources& sources, const frame::ReadSource& wanted,
                               const os::Fd& broker) {
  const SecretSource named{wanted.host, wanted.source};
  if (std::ranges::find(sources.all, named) == sources.all.end()) {
    return Error{Errc::denied,
                 "the floor has no secret_source of this kind for the host " + wanted.host};
  }
  const frame::LauncherToSource task = frame::SourceTask{wanted.ticket, wanted.host, wanted.source};
  TRY(const os::Fd file, os::sealed_memfd("cordon-source", frame::encode(task)));
  const std::array<const os::Fd*, 2> fds{&broker, &file};
  return start_own_program({.arguments = {"cordon-broker", "--source"},
                            .fds = fds,
                            .id = sources.uid,
                            .environment = environment_for(wanted.source)},
                           [](const Error& /*its ticket never comes*/) {});
}

}  // namespace cordon::launcher
