// SPDX-License-Identifier: Apache-2.0
#include "cli/audit_heads.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <optional>

#include "audit/heads_file.h"
#include "base/bytes.h"
#include "cli/program_beside.h"
#include "cli/state_root.h"
#include "cli/text_file.h"
#include "os/file.h"
#include "os/memfd.h"
#include "os/spawn.h"

namespace cordon::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostAnswers = std::size_t{64} << 20U;

std::optional<audit::PublicKey> key_from_hex(std::string_view text) {
  audit::PublicKey key{};
  if (!from_hex(text, key)) return std::nullopt;
  return key;
}

Result<std::vector<audit::Head>> heads_at(const fs::path& place) {
  std::error_code ignored;
  const bool is_directory = fs::is_directory(place, ignored);
  const fs::path directory = is_directory ? place : place.parent_path();
  TRY(const os::Fd opened, os::openat(os::at_cwd(), directory.empty() ? "." : directory.c_str(),
                                      O_RDONLY | O_DIRECTORY));
  return audit::read_heads(opened, is_directory ? audit::kHeads : place.filename().string());
}

void add_keys(std::vector<audit::PublicKey>& keys, const std::vector<audit::Head>& heads) {
  for (const audit::Head& head : heads) {
    if (std::ranges::find(keys, head.key) == keys.end()) keys.push_back(head.key);
  }
}

// That of --anchor; else of the caller's own notary, where it has one and the log is its own.
Result<std::vector<audit::Head>> anchored(const AuditOptions& options, const Context& context) {
  std::vector<audit::Head> all;
  for (const std::string& anchor : options.anchors) {
    auto heads = heads_at(anchor);
    if (!heads) return std::move(heads).error().with("--anchor " + anchor);
    all.insert(all.end(), heads->begin(), heads->end());
  }
  if (!options.anchors.empty() || !options.log.empty()) return all;
  const auto own = notary_root(context);
  std::error_code ignored;
  if (!own || !fs::exists(*own, ignored)) return all;
  return heads_at(*own);
}

}  // namespace

bool KnownHeads::is_trusted(const audit::Head& head) const {
  return std::ranges::find(keys, head.key) != keys.end() &&
         std::ranges::find(forged, head) == forged.end();
}

Result<audit::PublicKey> read_public_key(const std::string& word) {
  if (const auto key = key_from_hex(word)) return *key;
  TRY(std::string text, read_text_file(word));
  while (text.ends_with('\n')) text.pop_back();
  if (const auto key = key_from_hex(text)) return *key;
  return Error{Errc::invalid, "--key " + word + ": neither 64 digits of hex, nor a file with them"};
}

Result<std::vector<bool>> check_signatures(const std::vector<audit::Head>& heads) {
  std::vector<bool> good;
  if (heads.empty()) return good;
  std::string lines;
  for (const audit::Head& head : heads) lines += encode(head) + '\n';
  TRY(const os::Fd in, os::sealed_memfd("heads", as_bytes(lines)));
  TRY(os::Pipe out, os::pipe2(O_CLOEXEC));
  TRY(os::Child child, os::spawn(program_beside("cordon-notary"), {"cordon-notary", "--check"}, {},
                                 {}, {.in = &in, .out = &out.write}));
  out.write = os::Fd{};
  TRY(const std::string answers, os::read_all(out.read, kMostAnswers));
  TRY_DO(std::move(child).wait());
  for (std::size_t at = 0; at < answers.size();) {
    const std::size_t end = std::min(answers.find('\n', at), answers.size());
    good.push_back(std::string_view{answers}.substr(at, end - at) == "yes");
    at = end + 1;
  }
  if (good.size() == heads.size()) return good;
  return Error{Errc::internal, "cordon-notary did not check every head"};
}

Result<KnownHeads> known_heads(const AuditOptions& options, const os::Fd& directory,
                               const Context& context) {
  KnownHeads known;
  TRY(known.heads, audit::read_heads(directory, audit::kHeads));
  TRY(const auto others, anchored(options, context));
  for (const std::string& word : options.keys) {
    TRY(const audit::PublicKey key, read_public_key(word));
    known.keys.push_back(key);
  }
  if (known.keys.empty()) {
    known.trusts_itself = others.empty();
    add_keys(known.keys, others.empty() ? known.heads : others);
  }
  known.heads.insert(known.heads.end(), others.begin(), others.end());
  TRY(const std::vector<bool> good, check_signatures(known.heads));
  for (std::size_t i = 0; i < good.size(); ++i) {
    if (!good[i]) known.forged.push_back(known.heads[i]);
  }
  return known;
}

}  // namespace cordon::cli
