// SPDX-License-Identifier: Apache-2.0
// Feeds every file of the directories on the command line to the fuzz target that it is linked
// with.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

// libFuzzer's name for the target.
extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size);  // NOLINT(readability-identifier-naming): libFuzzer's name

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator{argv[i]}) {
      std::ifstream file{entry.path(), std::ios::binary};
      const std::string text{std::istreambuf_iterator<char>{file}, {}};
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
      ++files;
    }
  }
  std::cout << files << " files replayed\n";
  return files == 0 ? 1 : 0;  // an empty corpus shows nothing
}
