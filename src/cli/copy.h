// SPDX-License-Identifier: Apache-2.0
// Files and trees between here and a sandbox, which is not trusted in either direction.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "async/task.h"
#include "cli/copy_place.h"
#include "cli/node_client.h"

namespace cordon::cli {

struct Copied {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> left_out{};  // links that lead out of the tree
};
// The node's refusal is an answer.
using CopyOutcome = std::variant<Copied, NodeAnswer>;

struct CopyOrder {
  const Node& node;
  CopyPlace from;
  CopyPlace to;
  std::function<void(std::uint64_t bytes)> moved;  // so many more
};

// From here into a sandbox. `from` may be the standard input: an archive.
async::Task<CopyOutcome> copy_in(const CopyOrder& order);

// From a sandbox to here. `to` may be the standard output: an archive. What comes is read by
// cordon-unpack and made beneath one directory: no name leads out of it, no link is followed, links
// that lead out of the tree are left out, and nothing has set-id bits or is writable by others.
async::Task<CopyOutcome> copy_out(const CopyOrder& order);

// "file", "directory", …; empty: there is nothing. What cannot be asked is an answer in `refusal`.
async::Task<std::string> kind_inside(const Node& node, const std::string& sandbox,
                                     const std::string& path, NodeAnswer& refusal,
                                     std::uint32_t* mode = nullptr);

}  // namespace cordon::cli
