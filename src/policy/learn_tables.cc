// SPDX-License-Identifier: Apache-2.0
#include "policy/learn_tables.h"

#include <algorithm>
#include <iterator>

#include "policy/glob.h"

namespace cordon::policy {
namespace {

constexpr std::string_view kSecrets[] = {
    "**/.ssh",
    "**/.gnupg",
    "**/.aws",
    "**/.azure",
    "**/.kube",
    "**/.password-store",
    "**/.config/gcloud",
    "**/.config/gh",
    "**/.config/hub",
    "**/.config/op",
    "**/.docker/config.json",
    "**/.cargo/credentials*",
    "**/.gem/credentials",
    "**/.local/share/keyrings",
    "**/.mozilla",
    "**/.config/google-chrome",
    "**/.config/chromium",
    "**/.netrc",
    "**/.npmrc",
    "**/.pypirc",
    "**/.pgpass",
    "**/.my.cnf",
    "**/.git-credentials",
    "**/.vault-token",
    "**/.env",
    "**/.env.*",
    "**/id_rsa",
    "**/id_dsa",
    "**/id_ecdsa",
    "**/id_ed25519",
    "**/*.pem",
    "**/*.key",
    "**/*.p12",
    "**/*.pfx",
    "**/*.kdbx",
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/secrets",
};

struct WayOut {
  std::string_view host;  // itself and all below it
  std::string_view kind;
};
constexpr WayOut kWaysOut[] = {
    {"ngrok.com", "tunnel"},
    {"ngrok.io", "tunnel"},
    {"ngrok.app", "tunnel"},
    {"ngrok.dev", "tunnel"},
    {"ngrok-free.app", "tunnel"},
    {"ngrok-free.dev", "tunnel"},
    {"ngrok-agent.com", "tunnel"},
    {"trycloudflare.com", "tunnel"},
    {"argotunnel.com", "tunnel"},
    {"cfargotunnel.com", "tunnel"},
    {"serveo.net", "tunnel"},
    {"localhost.run", "tunnel"},
    {"lhr.life", "tunnel"},
    {"lhr.rocks", "tunnel"},
    {"loca.lt", "tunnel"},
    {"localtunnel.me", "tunnel"},
    {"localxpose.io", "tunnel"},
    {"loclx.io", "tunnel"},
    {"bore.pub", "tunnel"},
    {"pagekite.me", "tunnel"},
    {"pinggy.io", "tunnel"},
    {"pinggy.link", "tunnel"},
    {"playit.gg", "tunnel"},
    {"portmap.io", "tunnel"},
    {"remote.it", "tunnel"},
    {"telebit.io", "tunnel"},
    {"tunnelmole.net", "tunnel"},
    {"tunnelto.dev", "tunnel"},
    {"zrok.io", "tunnel"},
    {"devtunnels.ms", "tunnel"},
    {"tunnels.api.visualstudio.com", "tunnel"},
    {"tailscale.com", "tunnel"},
    {"tailscale.io", "tunnel"},
    {"zerotier.com", "tunnel"},
    {"webhook.site", "collector"},
    {"requestbin.com", "collector"},
    {"pipedream.net", "collector"},
    {"beeceptor.com", "collector"},
    {"hookbin.com", "collector"},
    {"interact.sh", "collector"},
    {"oast.fun", "collector"},
    {"oast.live", "collector"},
    {"oast.me", "collector"},
    {"oast.online", "collector"},
    {"oast.pro", "collector"},
    {"oast.site", "collector"},
    {"oastify.com", "collector"},
    {"burpcollaborator.net", "collector"},
    {"dnslog.cn", "collector"},
    {"transfer.sh", "collector"},
    {"file.io", "collector"},
    {"0x0.st", "collector"},
    {"metadata.google.internal", "metadata"},
    {"metadata.goog", "metadata"},
    {"169.254.169.254", "metadata"},
};

constexpr std::string_view kShared[] = {
    "/var/cache", "/var/lib", "/var/log", "/var/run", "/var/spool", "/var/tmp", "/usr/local",
    "/usr/share", "/usr/lib", "/usr/bin", "/etc/ssl", "/run/user",  "/dev/shm",
};

constexpr std::string_view kCaches[] = {
    "**/.cache",     "**/.npm",       "**/.pnpm-store",    "**/.yarn",   "**/.cargo/registry",
    "**/.cargo/git", "**/.gradle",    "**/.m2/repository", "**/.ccache", "**/.pip",
    "**/go/pkg/mod", "**/.nuget",     "**/__pycache__",    "**/.rustup", "**/.bun",
    "**/.deno",      "**/.ivy2/cache"};

template <std::size_t N>
PatternSet set_of(const std::string_view (&patterns)[N]) {
  PatternSet set;
  for (std::uint32_t i = 0; i < N; ++i) {
    std::string_view pattern = patterns[i];
    if (pattern.starts_with('/')) pattern.remove_prefix(1);  // both are matched without it
    set.add(pattern, i);
  }
  return set;
}

// More partial matches than can be followed count as one: of a secret that is the careful answer.
bool covers(const PatternSet& set, std::string_view path) {
  return path.size() > 1 && set.match(path.substr(1)).outcome != PatternSet::Outcome::no;
}

}  // namespace

bool is_secret_path(std::string_view path) {
  static const PatternSet kSet = set_of(kSecrets);
  return covers(kSet, path);
}

bool may_hold_secrets(std::string_view directory) {
  return std::ranges::any_of(kSecrets, [&](std::string_view pattern) {
    const auto slash = pattern.rfind('/');
    std::string_view parent = pattern.substr(0, slash);
    if (parent == "**" || parent.empty()) return false;
    if (parent.starts_with("**")) return directory.ends_with(parent.substr(2));
    return below(parent, directory).has_value();
  });
}

std::optional<std::string_view> kind_of_way_out(std::string_view host) {
  for (const WayOut& way : kWaysOut) {
    if (!host.ends_with(way.host)) continue;
    const std::size_t rest = host.size() - way.host.size();
    if (rest == 0 || host[rest - 1] == '.') return way.kind;
  }
  return std::nullopt;
}

bool is_too_wide(std::string_view directory, std::string_view home) {
  if (std::ranges::count(directory, '/') < 2) return true;
  if (!home.empty() && home != "/" && below(home, directory)) return true;
  // Of all homes, whoever's it is.
  const bool in_homes = below(directory, "/home").has_value();
  if (in_homes && std::ranges::count(directory, '/') == 2) return true;
  return std::ranges::find(kShared, directory) != std::end(kShared);
}

bool is_cache(std::string_view path) {
  static const PatternSet kSet = set_of(kCaches);
  return covers(kSet, path);
}

}  // namespace cordon::policy
