// SPDX-License-Identifier: Apache-2.0
#include "api/rest/file_call.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "async/deadline.h"
#include "policy/glob.h"

namespace cordon::api {
namespace {

// For one act: the largest is a mebibyte, or the removal of a part of a tree.
constexpr std::chrono::seconds kPatience{30};

bool is_change(frame::FileAct act) {
  return act != frame::FileAct::read && act != frame::FileAct::list && act != frame::FileAct::stat;
}

}  // namespace

Result<std::string> path_of(const Call& call, std::string_view name) {
  const auto found = call.query.find(name);
  if (found == call.query.end()) {
    return Error{Errc::invalid,
                 fmt::format("query: `{}` is missing: an absolute path inside", name)};
  }
  if (!policy::is_normal_path(found->second)) {
    return Error{
        Errc::invalid,
        fmt::format("query: `{}` is an absolute path without `.`, `..`, `//` or a slash at "
                    "the end",
                    name)};
  }
  return found->second;
}

Result<bool> flag_of(const Call& call, std::string_view name) {
  const auto found = call.query.find(name);
  if (found == call.query.end() || found->second == "false") return false;
  if (found->second == "true") return true;
  return Error{Errc::invalid, fmt::format("query: `{}` is true or false", name)};
}

Result<bool> follows_of(const Call& call) {
  if (!call.query.contains("follow")) return true;
  return flag_of(call, "follow");
}

Result<std::optional<std::uint32_t>> mode_of(const Call& call) {
  const auto found = call.query.find("mode");
  if (found == call.query.end()) return std::optional<std::uint32_t>{};
  std::uint32_t mode = 0;
  const char* const end = found->second.data() + found->second.size();
  const auto [stopped, error] = std::from_chars(found->second.data(), end, mode, 8);
  if (error != std::errc{} || stopped != end || mode > 0777) {
    return Error{Errc::invalid, "query: `mode` is octal, from 0 to 0777"};
  }
  return std::optional{mode};
}

http::Fields download_fields(const Call& call, std::string_view type) {
  http::Fields fields = stream_fields(call, type);
  fields.push_back({"Content-Disposition", "attachment"});
  fields.push_back({"Content-Security-Policy", "sandbox; default-src 'none'"});
  fields.push_back({"X-Content-Type-Options", "nosniff"});
  return fields;
}

Result<FileCall> FileCall::of(const Call& call, node::Resident& resident) {
  TRY(std::string path, path_of(call, "path"));
  // The token's paths lie in each other, or nothing is below all of them: the deepest decides.
  const auto& paths = call.authority.paths();
  const auto deepest = std::ranges::max_element(paths, {}, &std::string::size);
  return FileCall{resident, std::move(path), deepest == paths.end() ? std::string{} : *deepest};
}

async::Task<frame::FileReply> FileCall::ask(frame::FileRequest request) {
  std::optional<node::Resident::FileChange> change;
  if (is_change(request.act)) {
    CO_TRY(auto begun, resident_->begin_file_change());
    change.emplace(std::move(begun));
  }
  request.path = path_;
  request.beneath = beneath_;
  CO_TRY(frame::FileReply reply,
         co_await async::within(kPatience, resident_->sandbox().file(std::move(request))));
  if (reply.error_number != 0) co_return Error::from_errno(path_, reply.error_number);
  co_return reply;
}

async::Task<frame::FileReply> FileCall::write_tree(frame::WriteTree tree) {
  CO_TRY(const auto change, resident_->begin_file_change());
  tree.path = path_;
  tree.beneath = beneath_;
  co_return co_await async::within(kPatience, resident_->sandbox().write_tree(std::move(tree)));
}

async::Task<frame::FileReply> FileCall::read_tree(frame::ReadTree tree) {
  tree.path = path_;
  tree.beneath = beneath_;
  co_return co_await async::within(kPatience, resident_->sandbox().read_tree(std::move(tree)));
}

}  // namespace cordon::api
