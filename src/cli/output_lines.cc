// SPDX-License-Identifier: Apache-2.0
#include "cli/output_lines.h"

#include <algorithm>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "base/base64.h"
#include "cli/node_words.h"
#include "wire/answers.h"

namespace cordon::cli {

Result<OutputLine> read_output_line(std::string_view line) {
  const Error none{Errc::invalid, "the node sent a line of output that cannot be read"};
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(line, error);
  if (error || !value.is_object()) return none;
  const std::string event = text_at(value, "event");
  if (event == "exit" || event == "failed") {
    const auto* const process = value.get_object().if_contains("process");
    if (process == nullptr || !process->is_object()) return none;
    return OutputLine{OutputEnd{*process}};
  }
  const auto offset = number_at(value, "offset");
  if ((event != "stdout" && event != "stderr") || !offset) return none;
  OutputPiece piece{.is_error = event == "stderr", .offset = *offset, .bytes = {}};
  if (value.get_object().contains("data")) {
    piece.bytes = text_at(value, "data");
  } else {
    auto bytes = from_base64(text_at(value, "data_base64"));
    if (!bytes) return none;
    piece.bytes = *std::move(bytes);
  }
  return OutputLine{std::move(piece)};
}

std::string output_line_of(const OutputPiece& piece) {
  std::string line = wire::output_line(piece.is_error, piece.offset, piece.bytes);
  line.pop_back();
  return line;
}

std::uint64_t OutputCursor::take(OutputPiece& piece) {
  std::optional<std::uint64_t>& at = at_[piece.is_error ? 1 : 0];
  if (!at) at = piece.offset;
  const std::uint64_t gone = piece.offset > *at ? piece.offset - *at : 0;
  if (piece.offset < *at) {
    const std::uint64_t known = std::min<std::uint64_t>(*at - piece.offset, piece.bytes.size());
    piece.bytes.erase(0, static_cast<std::size_t>(known));
    piece.offset += known;
  }
  at = std::max(*at, piece.offset + piece.bytes.size());
  return gone;
}

std::uint64_t OutputCursor::missing(std::uint64_t out, std::uint64_t err) const noexcept {
  // Of a stream of which nothing is known, nothing is missing.
  const auto behind = [](std::optional<std::uint64_t> at, std::uint64_t written) {
    const std::uint64_t had = at.value_or(written);
    return written > had ? written - had : 0;
  };
  return behind(at_[0], out) + behind(at_[1], err);
}

}  // namespace cordon::cli
