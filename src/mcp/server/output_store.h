// SPDX-License-Identifier: Apache-2.0
// Outputs that answers had no room for: kept until newer ones need the room. (pure)
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::mcp::server {

class OutputStore {
 public:
  explicit OutputStore(std::size_t most) : most_{most} {}

  // Its name. `text` is UTF-8. One that is larger than all there is room for is kept alone.
  std::string add(std::string text);

  struct Part {
    std::string text;
    std::optional<std::size_t> next;  // nothing: this was the end
    std::size_t size = 0;             // of the whole
  };
  // Bytes from `offset` on, `limit` at most. With `lines_with`, only those lines: `offset` and
  // `next` stay places in the whole. `not_found`: there is none of that name any more.
  Result<Part> read(std::string_view name, std::size_t offset, std::size_t limit,
                    const std::optional<std::string>& lines_with) const;

 private:
  struct Kept {
    std::string name;
    std::string text;
  };
  std::size_t most_;
  std::size_t held_ = 0;
  std::uint64_t last_ = 0;
  std::deque<Kept> kept_;
};

}  // namespace cordon::mcp::server
