// SPDX-License-Identifier: Apache-2.0
// Reads the corpus of sequences that the tests of both filters share.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace cordon::terminal {

struct Specimen {
  std::string line;  // as it stands in the file
  std::string input;
  std::string relayed;
  std::string shown;
};

inline std::string unescaped(std::string_view text) {
  static constexpr std::string_view kNames = "eabtnvfr\\";
  static constexpr std::string_view kBytes = "\x1b\a\b\t\n\v\f\r\\";
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
    } else if (text.substr(i + 1, 1) == "x") {
      bytes += static_cast<char>(std::stoi(std::string{text.substr(i + 2, 2)}, nullptr, 16));
      i += 3;
    } else {
      bytes += kBytes.at(kNames.find(text.at(++i)));
    }
  }
  return bytes;
}

inline std::string made_visible(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    if (byte >= 0x20 && byte < 0x7F)
      text += byte;
    else
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  }
  return text;
}

inline std::string expected(std::string_view column, const std::string& input) {
  if (column == "=") return input;
  if (column == "-") return {};
  if (column == "~") return made_visible(input);
  return unescaped(column);
}

inline std::vector<Specimen> corpus() {
  std::ifstream file{CORDON_SOURCE_DIR "/tests/terminal/sequences.tsv"};
  std::vector<Specimen> specimens;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream columns{line};
    std::string relay;
    std::string text;
    std::string input;
    std::getline(columns, relay, '\t');
    std::getline(columns, text, '\t');
    std::getline(columns, input);
    input = unescaped(input);
    specimens.push_back({line, input, expected(relay, input), expected(text, input)});
  }
  return specimens;
}

// Both halves of `input` in two calls, for every place where it can be cut, and all bytes one by
// one.
template <class Filter>
std::vector<std::string> cut_everywhere(std::string_view input, const Filter& filtered) {
  std::vector<std::string> outputs;
  for (std::size_t i = 0; i <= input.size(); ++i)
    outputs.push_back(filtered({input.substr(0, i), input.substr(i)}));
  std::vector<std::string_view> bytes;
  bytes.reserve(input.size());
  for (std::size_t i = 0; i < input.size(); ++i) bytes.push_back(input.substr(i, 1));
  outputs.push_back(filtered(bytes));
  return outputs;
}

}  // namespace cordon::terminal
