// SPDX-License-Identifier: Apache-2.0
#include "launcher/secret_files.h"

#include "base/id.h"
#include "os/key_file.h"

namespace cordon::launcher {
namespace {

constexpr std::size_t kKeyBytes = 32;

}  // namespace

Result<SecretFiles> open_secret_files(const os::Fd& directory, const std::string& tenant) {
  if (!is_base32_name(tenant)) return Error{Errc::denied, "a tenant that is not of our alphabet"};
  auto key = os::open_key_file(directory, tenant + ".key", kKeyBytes);
  if (!key) return std::move(key).error().with("store of secrets");
  auto store = os::open_kept_file(directory, tenant + ".store");
  if (!store) return std::move(store).error().with("store of secrets");
  return SecretFiles{*std::move(store), *std::move(key)};
}

}  // namespace cordon::launcher
