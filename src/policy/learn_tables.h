// SPDX-License-Identifier: Apache-2.0
// What is never suggested, whoever asks for it: data.
#pragma once

#include <optional>
#include <string_view>

namespace cordon::policy {

// Keys, tokens and what is below directories of them.
bool is_secret_path(std::string_view path);
// A directory with such in it beside other things: `.config`, `.docker`.
bool may_hold_secrets(std::string_view directory);

// "tunnel", "collector" or "metadata": a host by which whoever is inside gets a way out or in that
// nobody judges. Nothing: it is none of those.
std::optional<std::string_view> kind_of_way_out(std::string_view host);

// The root, what is directly below it, and places that many things share. `home` is one too.
bool is_too_wide(std::string_view directory, std::string_view home);

// What can be made again, by its name: losing or spoiling it costs time.
bool is_cache(std::string_view path);

}  // namespace cordon::policy
