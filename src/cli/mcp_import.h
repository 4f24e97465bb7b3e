// SPDX-License-Identifier: Apache-2.0
// cordon mcp wrap --import: a client's configuration, with its servers wrapped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/verbs.h"

namespace cordon::cli {

struct ImportOptions {
  std::string file;
  std::string json;  // a file for the table as JSON, or "-"; empty: a table for people
  std::string name;  // only this server; empty: all of them
  std::vector<std::string> flags;  // "cordon", "mcp", "wrap" and what each server is wrapped with
  bool dry_run = false;
};

struct ImportedServer {
  std::string name;
  std::string done;     // "wrapped", "wrapped already", "left: it is reached by a URL", …
  std::string command;  // as it is now, where it was wrapped
  friend bool operator==(const ImportedServer&, const ImportedServer&) = default;
};
struct Imported {
  std::string text;  // the whole file, but for `command` and `args` of what was wrapped as it was
  std::vector<ImportedServer> servers;
};
// Of the servers under `mcpServers`, wherever it stands, and `servers`. `cordon`: what is started.
Result<Imported> wrap_servers(std::string_view text, const ImportOptions& options,
                              const std::string& cordon);

void import_servers(const ImportOptions& options, Context& context);

}  // namespace cordon::cli
