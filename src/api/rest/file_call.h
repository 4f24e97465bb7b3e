// SPDX-License-Identifier: Apache-2.0
// One request about a file: its path, and how far the token lets it lead.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/rest/call.h"
#include "async/task.h"
#include "node/resident.h"

namespace cordon::api {

// A path of the query, in its one spelling. `invalid`: it is missing, or not absolute and plain.
Result<std::string> path_of(const Call& call, std::string_view name);
// "true" or "false"; absent is false.
Result<bool> flag_of(const Call& call, std::string_view name);
// Of a stream: whether it goes on behind what is there. It does where nothing is said.
Result<bool> follows_of(const Call& call);
// Permission bits in octal: "0644"; nothing: as it comes.
Result<std::optional<std::uint32_t>> mode_of(const Call& call);

// Of an answer whose bytes are a sandbox's: no browser shows it, or guesses what it is.
http::Fields download_fields(const Call& call, std::string_view type);

class FileCall {
 public:
  // `resident` outlives it.
  static Result<FileCall> of(const Call& call, node::Resident& resident);

  // One act; `request` says neither path nor how far it may lead. What the sandbox's kernel refuses
  // is an Error with its errno.
  async::Task<frame::FileReply> ask(frame::FileRequest request);
  // A part of the tree there; the errno is a value.
  async::Task<frame::FileReply> write_tree(frame::WriteTree tree);
  async::Task<frame::FileReply> read_tree(frame::ReadTree tree);

  const std::string& path() const noexcept { return path_; }
  // A directory that the token holds it in; empty: none.
  const std::string& beneath() const noexcept { return beneath_; }

 private:
  FileCall(node::Resident& resident, std::string path, std::string beneath)
      : resident_{&resident}, path_{std::move(path)}, beneath_{std::move(beneath)} {}

  node::Resident* resident_;
  std::string path_;
  std::string beneath_;
};

}  // namespace cordon::api
