// SPDX-License-Identifier: Apache-2.0
// Runs at build time: compiles every profile, and the filter of every program of ours, and writes
// each as an array; and the names of all calls. `generate PROFILES OWN NAMES`
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include <fmt/format.h>

#include "os/filter/own_calls.h"
#include "os/filter/profile.h"
#include "os/filter/table.h"

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

Result<std::string> array_of(std::string_view name, const FilterSpec& spec) {
  TRY(const auto program, compile_filter(spec));
  std::string text = fmt::format("// {}: {} instructions\nconstexpr sock_filter {}[] = {{\n", name,
                                 program.size(), array_name(name));
  for (const sock_filter& op : program) {
    text += fmt::format("{{{:#x}, {}, {}, {:#x}}},\n", op.code, op.jt, op.jf, op.k);
  }
  return text + "};\n";
}

Result<std::string> profiles() {
  std::string text;
  for (const FilterProfile profile : kFilterProfiles) {
    TRY(const std::string array, array_of(to_string(profile), profile_spec(profile)));
    text += array;
  }
  return text;
}

Result<std::string> own() {
  std::string text;
  for (const OwnProgram program : kOwnPrograms) {
    TRY(const std::string array, array_of(to_string(program), own_spec(program)));
    text += array;
  }
  return text;
}

std::string names() {
  std::map<int, std::string_view> all;
  for (const Call& call : plain_calls()) all.emplace(call.number, call.name);
  for (const Call& call : absent_calls()) all.emplace(call.number, call.name);
  for (const RefusedCall& each : compat_calls()) all.emplace(each.call.number, each.call.name);
  for (const RefusedCall& each : refused_calls()) all.emplace(each.call.number, each.call.name);
  for (const RuledCall& each : ruled_calls(FilterBase::strict)) {
    all.emplace(each.call.number, each.call.name);
  }
  std::string text = "constexpr NamedCall kCallNames[] = {\n";
  for (const auto& [number, name] : all) {
    if (number >= 0) text += fmt::format("{{{}, \"{}\"}},\n", number, name);
  }
  return text + "};\n";
}

bool write(const Result<std::string>& text, const char* path) {
  if (!text) {
    std::cerr << "filters: " << text.error().text() << '\n';
    return false;
  }
  std::ofstream file{path, std::ios::binary};
  return static_cast<bool>(file << *text << std::flush);
}

}  // namespace
}  // namespace cordon::os

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: generate PROFILES OWN NAMES\n";
    return EXIT_FAILURE;
  }
  const bool written = cordon::os::write(cordon::os::profiles(), argv[1]) &&
                       cordon::os::write(cordon::os::own(), argv[2]) &&
                       cordon::os::write(cordon::os::names(), argv[3]);
  return written ? EXIT_SUCCESS : EXIT_FAILURE;
}
