// SPDX-License-Identifier: Apache-2.0
// cordon token key, and the key files that it makes.
#include <fcntl.h>
#include <ostream>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/bytes.h"
#include "cli/token_verbs.h"
#include "os/file.h"
#include "os/file_status.h"
#include "os/random.h"
#include "policy/text.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

constexpr mode_t kOwnersOnly = 0600;
constexpr std::uint32_t kOthers = 077;

Status write_key(const std::string& file, const WipedBytes& text) {
  auto done = os::create_file(os::at_cwd(), file.c_str(), as_text(text), kOwnersOnly);
  if (done || done.error().code() != Errc::exists) return done;
  return Error{Errc::exists, file + ": it exists; a key is never written over"};
}

Result<token::RootKey> new_root(std::uint8_t number) {
  TRY(auto random, os::random_bytes<kDigestSize>());
  token::Secret secret{random};
  wipe(random);
  return token::RootKey{std::move(secret), number};
}

Result<WipedBytes> key_text(const TokenOptions& options) {
  if (options.from.empty()) {
    TRY(const token::RootKey root, new_root(static_cast<std::uint8_t>(options.number)));
    return token::key_file_text(root);
  }
  TRY(const token::AnyKey from, read_key(options.from));
  const auto* const root = std::get_if<token::RootKey>(&from);
  if (root == nullptr) {
    return Error{Errc::invalid, options.from + ": only a root key has others derived from it"};
  }
  TRY(const token::AudienceKey key, root->derive(options.audience));
  return token::key_file_text(key);
}

Status make_key(const TokenOptions& options) {
  TRY(const WipedBytes text, key_text(options));
  return write_key(options.file, text);
}

Status check_readers(const os::Fd& fd, const std::string& file) {
  TRY(const os::FileStatus status, os::statx(fd));
  if (status.type != os::FileType::regular)
    return Error{Errc::invalid, file + ": a key is an ordinary file"};
  if ((status.mode & kOthers) == 0) return {};
  return Error{
      Errc::denied,
      fmt::format("{}: others than its owner may read or write it, so it is not used: make "
                  "a new key (cordon token key FILE), or, if nobody has read this one, "
                  "chmod 600 {}",
                  file, file)};
}

}  // namespace

Result<token::AnyKey> read_key(const std::string& file) {
  // Not waiting: a pipe is refused, not read.
  auto fd = os::openat(os::at_cwd(), file.c_str(), O_RDONLY | O_NONBLOCK);
  if (!fd && fd.error().code() == Errc::not_found) {
    return Error{Errc::not_found,
                 fmt::format("{}: no such file; cordon token key {} makes a new key", file, file)};
  }
  if (!fd) return Error{Errc::not_found, file + ": " + fd.error().text()};
  TRY_DO(check_readers(*fd, file));
  TRY(std::string text, os::read_all(*fd, token::kLongestKeyFile));
  auto key = token::parse_key_file(as_bytes(text));
  wipe(std::as_writable_bytes(std::span{text}));
  if (!key) return std::move(key).error().with(file);
  return key;
}

Result<token::AudienceKey> audience_key(const TokenOptions& options) {
  TRY(token::AnyKey any, read_key(options.key));
  if (const auto* const root = std::get_if<token::RootKey>(&any)) {
    if (options.audience.empty())
      return Error{Errc::invalid, "--audience: a root key needs the name of a node"};
    return root->derive(options.audience);
  }
  auto& key = std::get<token::AudienceKey>(any);
  if (options.audience.empty() || options.audience == key.audience()) return std::move(key);
  return Error{Errc::denied,
               fmt::format("{}: this is the key of {}, which makes no tokens for {}", options.key,
                           key.audience(), policy::in_quotes(options.audience))};
}

void token_key(const TokenOptions& options, Context& context) {
  if (const auto done = make_key(options); !done) return fail(context, done.error());
  if (options.json) {
    context.out << json::object{{"file", options.file}} << '\n';
  } else if (options.from.empty()) {
    context.out << options.file << ": a new root key; whoever reads it can make every token\n";
  } else {
    context.out << options.file << ": the key of " << options.audience
                << "; whoever reads it can make every token for " << options.audience << '\n';
  }
}

}  // namespace cordon::cli
