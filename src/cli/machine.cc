// SPDX-License-Identifier: Apache-2.0
// cordon machine: what a virtual machine starts with.
#include "cli/machine.h"

#include <cstdlib>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "cli/program_beside.h"
#include "cli/state_root.h"
#include "frame/launch_plan.h"
#include "machine/build.h"

namespace cordon::cli {
namespace {

using frame::kMachineVariable;

struct BuildFlags {
  std::string kernel;
  std::string modules;
  std::string into;
  bool json = false;
};

Result<machine::Kernel> kernel_of(const BuildFlags& flags) {
  if (flags.kernel.empty()) {
    auto found = machine::find_kernel();
    if (found) return found;
    return Error{Errc::not_found, found.error().text() +
                                      "; apt install linux-image-cloud-amd64, or name one with "
                                      "--kernel FILE --modules DIRECTORY"};
  }
  if (flags.modules.empty()) return Error{Errc::invalid, "--kernel needs --modules DIRECTORY"};
  return machine::Kernel{.file = flags.kernel, .modules = flags.modules};
}

machine::Programs own_programs() {
  return {.init = program_beside("cordon-init"), .recorder = program_beside("cordon-bpf")};
}

Result<machine::Kernel> build_now(const BuildFlags& flags, const std::string& into) {
  TRY(machine::Kernel kernel, kernel_of(flags));
  TRY_DO(machine::build(kernel, own_programs(), into));
  return kernel;
}

void do_build(const BuildFlags& flags, Context& context) {
  auto into = flags.into.empty() ? machine_root(context) : Result<std::string>{flags.into};
  if (!into) return fail(context, into.error());
  const auto kernel = build_now(flags, *into);
  if (!kernel) return fail(context, kernel.error());
  if (flags.json) {
    context.out << boost::json::serialize(
                       boost::json::object{{"kernel", kernel->file}, {"directory", *into}})
                << '\n';
  } else {
    context.out << "built a machine of " << kernel->file << " in " << *into << '\n';
  }
}

}  // namespace

Result<std::string> machine_root(const Context& context) {
  if (const auto named = context.environment(kMachineVariable); named && !named->empty())
    return *named;
  return data_root(context, "machine");
}

void name_machine(const Context& context) {
  const auto root = machine_root(context);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread
  if (root) ::setenv(kMachineVariable, root->c_str(), 1);
}

bool build_machine_once(const Context& context) {
  const auto root = machine_root(context);
  if (!root) return false;
  name_machine(context);
  const auto kernel = machine::find_kernel();
  const machine::Programs programs = own_programs();
  if (!kernel || machine::is_built(*kernel, programs, *root)) return false;
  context.err << "cordon: building a machine of " << kernel->file << ", once\n";
  const Status built = machine::build(*kernel, programs, *root);
  if (!built) context.err << "cordon: " << built.error().text() << '\n';
  return built.has_value();
}

void add_machine(CLI::App& app, Context& context) {
  CLI::App* const verb = app.add_subcommand("machine", "What a virtual machine starts with");
  verb->require_subcommand(1);
  auto flags = std::make_shared<BuildFlags>();
  CLI::App* const build = verb->add_subcommand(
      "build", "Makes it of an installed kernel: once, and again after an upgrade");
  build->add_option("--kernel", flags->kernel,
                    "A bzImage or vmlinux instead of the newest in /boot");
  build->add_option("--modules", flags->modules, "Its directory below /lib/modules");
  build->add_option("--into", flags->into,
                    "A directory; of a service what `machine` in its floor names");
  build->add_flag("--json", flags->json, "Print one JSON object");
  build->callback([flags, &context] { do_build(*flags, context); });
}

}  // namespace cordon::cli
