// SPDX-License-Identifier: Apache-2.0
#include "policy/host_view.h"

#include <algorithm>

#include "policy/glob.h"

namespace cordon::policy {
namespace {

constexpr std::string_view kTrees[] = {"/usr",   "/bin",   "/sbin",   "/lib",
                                       "/lib32", "/lib64", "/libx32", "/opt"};

constexpr std::string_view kEtc[] = {
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/ca-certificates",
    "/etc/debian_version",
    "/etc/gitconfig",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/java-17-openjdk",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/locale.gen",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/perl",
    "/etc/pki/tls/certs",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/protocols",
    "/etc/python3",
    "/etc/python3.11",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/shells",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
    "/etc/vim",
    "/etc/xattr.conf",
};

bool is_below_any(std::string_view path, std::span<const std::string_view> trees) noexcept {
  return std::ranges::any_of(trees,
                             [&](std::string_view tree) { return below(path, tree).has_value(); });
}

// A directory on the way to something that is shown exists too.
bool leads_to(std::string_view path, std::string_view shown) noexcept {
  return below(shown, path).has_value();
}

}  // namespace

std::span<const std::string_view> host_trees() noexcept { return kTrees; }
std::span<const std::string_view> host_etc() noexcept { return kEtc; }

bool is_shown_of_host(std::string_view path) noexcept {
  return is_below_any(path, kTrees) || is_below_any(path, kEtc) ||
         std::ranges::any_of(kEtc, [&](std::string_view shown) { return leads_to(path, shown); });
}

}  // namespace cordon::policy
