// SPDX-License-Identifier: Apache-2.0
// Runs at build time: compiles every profile and writes it as an array. `generate FILE`
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include <fmt/format.h>

#include "os/filter/profile.h"

namespace cordon::os {
namespace {

// "strict+nosetid" -> "kStrictNosetid".
std::string array_name(std::string_view profile) {
  std::string name = "k";
  bool upper = true;
  for (const char c : profile) {
    if (c != '+') name += upper ? static_cast<char>(std::toupper(c)) : c;
    upper = c == '+';
  }
  return name;
}

Result<std::string> generate() {
  std::string text;
  for (const FilterProfile profile : kFilterProfiles) {
    TRY(const auto program, compile_filter(profile_spec(profile)));
    text += fmt::format("// {}: {} instructions\nconstexpr sock_filter {}[] = {{\n",
                        to_string(profile), program.size(), array_name(to_string(profile)));
    for (const sock_filter& op : program) {
      text += fmt::format("{{{:#x}, {}, {}, {:#x}}},\n", op.code, op.jt, op.jf, op.k);
    }
    text += "};\n";
  }
  return text;
}

}  // namespace
}  // namespace cordon::os

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: generate FILE\n";
    return EXIT_FAILURE;
  }
  const auto text = cordon::os::generate();
  if (!text) {
    std::cerr << "filters: " << text.error().text() << '\n';
    return EXIT_FAILURE;
  }
  std::ofstream file{argv[1], std::ios::binary};
  return file << *text << std::flush ? EXIT_SUCCESS : EXIT_FAILURE;
}
