// SPDX-License-Identifier: Apache-2.0
// Where the pins of a server's tools are kept: outside of every workspace, by its command.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/verbs.h"
#include "mcp/pins.h"

namespace cordon::cli {

// SHA-256 in hex of the words of the command. The program is where PATH finds it, and words that
// name a file from `directory` on are that file: the same words elsewhere are another server.
std::string command_digest(const std::vector<std::string>& command, const std::string& directory,
                           const Context& context);

// SHA-256 in hex of the bytes of all files that the words name, in their order; of the program not
// where it is one of the system's own. What they load besides is not in it.
Result<std::string> files_digest(const std::vector<std::string>& command,
                                 const std::string& directory, const Context& context);

class PinStore {
 public:
  // STATE/mcp/KEY.pins.
  static Result<PinStore> open(const std::string& state, const std::string& key);

  // Empty where nothing was seen yet.
  Result<mcp::PinFile> read() const;
  Status write(const mcp::PinFile& file) const;
  const std::string& path() const noexcept { return path_; }

 private:
  explicit PinStore(std::string path) : path_{std::move(path)} {}
  std::string path_;
};

}  // namespace cordon::cli
