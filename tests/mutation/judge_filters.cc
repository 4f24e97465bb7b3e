// SPDX-License-Identifier: Apache-2.0
// Runs the filters under every mutant of their table through the BPF machine: each must answer some
// call otherwise than the golden sweep. `judge_filters GOLDEN | --list`
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include "filter_mutants.h"
#include "os/filter/test_sweep.h"

namespace cordon::mutation {
namespace {

using Programs = std::array<std::vector<sock_filter>, os::kProfileCount>;

std::string sweep_of(const std::string& mutant) {
  Programs programs;
  os::AllPrograms views;
  for (std::size_t i = 0; i < os::kProfileCount; ++i) {
    const auto compiled = os::compile_filter(mutated_spec(os::kFilterProfiles[i], mutant));
    if (!compiled) {
      std::cerr << mutant << ": " << compiled.error().text() << '\n';
      std::exit(EXIT_FAILURE);  // NOLINT(concurrency-mt-unsafe): one thread
    }
    programs[i] = *compiled;
    views[i] = programs[i];
  }
  return os::Sweep{views}.text();
}

int judge(const char* path) {
  std::ifstream file{path, std::ios::binary};
  const std::string golden{std::istreambuf_iterator<char>{file}, {}};
  if (sweep_of("") != golden) {
    std::cerr << "without a mutant the sweep is not " << path << '\n';
    return EXIT_FAILURE;
  }
  std::size_t survived = 0;
  const auto all = filter_mutants();
  for (const std::string& mutant : all) {
    if (sweep_of(mutant) != golden) continue;
    ++survived;
    std::cout << "survived: " << mutant << '\n';
  }
  std::cout << all.size() << " mutants of the filters, " << all.size() - survived << " killed, "
            << survived << " survived\n";
  return survived == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace cordon::mutation

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: judge_filters GOLDEN | --list\n";
    return EXIT_FAILURE;
  }
  if (std::string_view{argv[1]} == "--list") {
    for (const std::string& mutant : cordon::mutation::filter_mutants())
      std::cout << mutant << '\n';
    return EXIT_SUCCESS;
  }
  return cordon::mutation::judge(argv[1]);
}
