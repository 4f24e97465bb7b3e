// SPDX-License-Identifier: Apache-2.0
// The files of a form (multipart/form-data), cut out of a body as it comes: of no part more is held
// than the last piece. (pure)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace cordon::api::e2b {

class Multipart {
 public:
  struct Part {
    std::string name;
    std::optional<std::string> file_name;  // with its directories; %22, %0D and %0A resolved
    friend bool operator==(const Part&, const Part&) = default;
  };
  struct Data {
    std::string bytes;  // never empty
    friend bool operator==(const Data&, const Data&) = default;
  };
  struct PartEnd {
    friend bool operator==(const PartEnd&, const PartEnd&) = default;
  };
  using Event = std::variant<Part, Data, PartEnd>;
  using Next = std::optional<Event>;

  // By the value of Content-Type. `invalid`: it is no form, or names no boundary.
  static Result<Multipart> of_type(std::string_view content_type);

  void push(std::string_view bytes) { held_ += bytes; }
  // Nothing: more bytes are needed, or all is over. `invalid`: no client writes that; nothing more
  // comes then. Only what can be read in one way is taken: no text in front, no empty lines
  // within, one Content-Disposition for each part.
  // The pieces of a part's data are as large as what was pushed.
  Result<Next> next();

  // Whether the last boundary has come; what follows it, but a line's end, is `invalid`.
  bool is_over() const noexcept { return state_ == State::over; }

 private:
  enum class State : std::uint8_t { boundary, heads, data, over };

  explicit Multipart(std::string delimiter) : delimiter_{std::move(delimiter)} {}

  Result<Next> pass_boundary();
  Result<Next> take_heads();
  Result<Next> take_data();

  std::string delimiter_;     // with the line's end in front, which belongs to it
  std::string held_{"\r\n"};  // so that the first one has it too
  State state_ = State::boundary;
  bool is_first_ = true;
};

}  // namespace cordon::api::e2b
