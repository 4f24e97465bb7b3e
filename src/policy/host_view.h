// SPDX-License-Identifier: Apache-2.0
// What of the host `root = "host"` shows: a list, not a view. All else of it is absent.
#pragma once

#include <span>
#include <string_view>

namespace cordon::policy {

// Shown read-only as they are.
std::span<const std::string_view> host_trees() noexcept;

// Of /etc only these, some of them written anew by Cordon (passwd, group, resolv.conf, hosts,
// nsswitch.conf). Never the machine's secrets: shadow, ssh, sudoers, private keys.
std::span<const std::string_view> host_etc() noexcept;

// True for a path that `root = "host"` shows. Before: is_normal_path(path).
bool is_shown_of_host(std::string_view path) noexcept;

}  // namespace cordon::policy
