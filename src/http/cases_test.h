// SPDX-License-Identifier: Apache-2.0
// Texts with bytes spelt out, and messages in all pieces they may arrive in.
#pragma once

#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/result.h"
#include "http/characters.h"
#include "http/parse_head.h"

namespace cordon::http {

// \r, \n, \t, \0, \\ and \xHH.
inline std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const char kind = text.at(++i);
    if (kind == 'x') {
      out += static_cast<char>(hex_value(text.at(i + 1)) * 16 + hex_value(text.at(i + 2)));
      i += 2;
    } else {
      const auto known = std::string_view{"rnt0\\"}.find(kind);
      if (known == std::string_view::npos) throw std::invalid_argument{std::string{text}};
      out += std::string_view{"\r\n\t\0\\", 5}[known];
    }
  }
  return out;
}

// The same, and <<N*TEXT>> is TEXT N times.
inline std::string expanded(std::string_view text) {
  std::string out;
  for (;;) {
    const auto open = text.find("<<");
    const auto close = open == std::string_view::npos ? open : text.find(">>", open);
    out += unescaped(text.substr(0, open));
    if (close == std::string_view::npos) return out;
    const std::string_view inside = text.substr(open + 2, close - open - 2);
    text.remove_prefix(close + 2);
    const auto star = inside.find('*');
    const std::string again = unescaped(inside.substr(star + 1));
    for (int i = std::stoi(std::string{inside.substr(0, star)}); i > 0; --i) out += again;
  }
}

// A file of blocks: "=== NAME", then lines of a mark, a space and a text.
struct Block {
  std::string name;
  std::vector<std::pair<char, std::string>> lines;

  std::string only(char mark) const {
    std::string found;
    for (const auto& [key, text] : lines) {
      if (key == mark) found = text;
    }
    return found;
  }
};

inline std::vector<Block> read_blocks(const std::string& name) {
  std::ifstream file{std::string{CORDON_SOURCE_DIR} + '/' + name};
  std::vector<Block> blocks;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("=== ")) {
      blocks.push_back({.name = line.substr(4), .lines = {}});
    } else if (blocks.empty()) {
      EXPECT_TRUE(line.starts_with('#')) << line;
    } else {
      EXPECT_TRUE(line.size() >= 2 && line[1] == ' ') << blocks.back().name << ": " << line;
      blocks.back().lines.emplace_back(line[0], line.substr(2));
    }
  }
  EXPECT_FALSE(blocks.empty()) << name;
  return blocks;
}

// What a reader makes of pieces: the head and how many bytes it took, or its refusal.
template <class Head>
struct Outcome {
  Head head{};
  std::size_t consumed = 0;
  bool done = false;
  std::string refusal{};

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

template <class Reader, class Head>
Outcome<Head> outcome_of(Reader reader, const std::vector<std::string_view>& pieces) {
  Outcome<Head> outcome;
  for (const auto piece : pieces) {
    const auto fed = reader.feed(piece);
    if (!fed) {
      outcome.refusal = fed.error().text();
      outcome.consumed = 0;
      return outcome;
    }
    outcome.consumed += fed->consumed;
    outcome.done = fed->done;
    if (!fed->done) continue;
    outcome.head = reader.take();
    return outcome;
  }
  return outcome;
}

inline Outcome<RequestHead> read_request(const std::vector<std::string_view>& pieces,
                                         const RequestRules& rules = {}) {
  return outcome_of<RequestReader, RequestHead>(RequestReader{rules}, pieces);
}
inline Outcome<ResponseHead> read_answer(const std::vector<std::string_view>& pieces) {
  return outcome_of<ResponseReader, ResponseHead>(ResponseReader{}, pieces);
}

inline std::vector<std::string_view> bytes_of(std::string_view text) {
  std::vector<std::string_view> bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) bytes.push_back(text.substr(i, 1));
  return bytes;
}

// A request that must be well-formed.
inline RequestHead request_of(std::string_view text, const RequestRules& rules = {}) {
  auto outcome = read_request({text}, rules);
  EXPECT_TRUE(outcome.done) << outcome.refusal;
  EXPECT_EQ(outcome.consumed, text.size());
  return std::move(outcome.head);
}
inline ResponseHead answer_of(std::string_view text) {
  auto outcome = read_answer({text});
  EXPECT_TRUE(outcome.done) << outcome.refusal;
  EXPECT_EQ(outcome.consumed, text.size());
  return std::move(outcome.head);
}

}  // namespace cordon::http
