// SPDX-License-Identifier: Apache-2.0
#include "cli/grant_secret.h"

#include <fmt/format.h>

#include "source/secret_source.h"

namespace cordon::cli {

Result<WipedBytes> read_secret(const policy::Grant& grant, const Context& context) {
  const auto environment = [&context] {
    std::vector<std::string> all;
    for (const auto& [name, value] : context.variables()) {
      all.push_back(fmt::format("{}={}", name, value));
    }
    return all;
  };
  auto secret = source::read_secret(grant.source, grant.from,
                                    {.variable = context.environment, .environment = environment});
  if (!secret) return std::move(secret).error().with(fmt::format("grant `{}`", grant.name));
  return secret;
}

}  // namespace cordon::cli
