// SPDX-License-Identifier: Apache-2.0
#include "policy/host.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "policy/text.h"

namespace cordon::policy {
namespace {

// Suffixes of two and more labels under which strangers register names: a wildcard over one grants
// the world. Single labels are all refused and need no list.
constexpr std::string_view kSharedSuffixes[] = {
    "ac.jp",
    "ac.uk",
    "amazonaws.com",
    "appspot.com",
    "azurewebsites.net",
    "blogspot.com",
    "cloudfront.net",
    "co.in",
    "co.jp",
    "co.kr",
    "co.nz",
    "co.uk",
    "co.za",
    "com.ar",
    "com.au",
    "com.br",
    "com.cn",
    "com.hk",
    "com.mx",
    "com.sg",
    "com.tr",
    "com.tw",
    "compute.amazonaws.com",
    "edu.au",
    "edu.cn",
    "firebaseapp.com",
    "fly.dev",
    "github.io",
    "gitlab.io",
    "gov.uk",
    "herokuapp.com",
    "loca.lt",
    "modal.run",
    "myshopify.com",
    "ne.jp",
    "net.au",
    "netlify.app",
    "ngrok-free.app",
    "ngrok.app",
    "ngrok.io",
    "onrender.com",
    "or.jp",
    "org.au",
    "org.uk",
    "pages.dev",
    "railway.app",
    "replit.app",
    "run.app",
    "s3.amazonaws.com",
    "supabase.co",
    "trycloudflare.com",
    "vercel.app",
    "web.app",
    "workers.dev",
};

// Providers of storage and functions: below these every name, however deep, may be a stranger's.
constexpr std::string_view kSharedBelow[] = {
    "amazonaws.com", "backblazeb2.com", "digitaloceanspaces.com", "r2.cloudflarestorage.com",
    "r2.dev",        "windows.net",
};

bool is_shared(std::string_view suffix) {
  return suffix.find('.') == std::string_view::npos ||
         std::ranges::binary_search(kSharedSuffixes, suffix) ||
         std::ranges::any_of(kSharedBelow, [&](std::string_view shared) {
           return suffix == shared ||
                  (suffix.ends_with(shared) && suffix[suffix.size() - shared.size() - 1] == '.');
         });
}

bool is_label(std::string_view label) noexcept {
  return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
         std::ranges::all_of(label, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

struct Block {
  std::uint32_t first;
  int bits;
  AddressKind kind;
};

constexpr std::uint32_t quad(unsigned a, unsigned b, unsigned c, unsigned d) {
  return (a << 24U) | (b << 16U) | (c << 8U) | d;
}

// Narrow blocks before the wide ones that hold them.
constexpr Block kBlocks[] = {
    {quad(100, 100, 100, 200), 32, AddressKind::forbidden},  // metadata
    {quad(168, 63, 129, 16), 32, AddressKind::forbidden},    // metadata
    {quad(0, 0, 0, 0), 8, AddressKind::forbidden},
    {quad(10, 0, 0, 0), 8, AddressKind::private_},
    {quad(100, 64, 0, 0), 10, AddressKind::private_},
    {quad(127, 0, 0, 0), 8, AddressKind::forbidden},
    {quad(169, 254, 0, 0), 16, AddressKind::forbidden},
    {quad(172, 16, 0, 0), 12, AddressKind::private_},
    {quad(192, 0, 0, 0), 24, AddressKind::forbidden},
    {quad(192, 0, 2, 0), 24, AddressKind::forbidden},
    {quad(192, 88, 99, 0), 24, AddressKind::forbidden},
    {quad(192, 168, 0, 0), 16, AddressKind::private_},
    {quad(198, 18, 0, 0), 15, AddressKind::forbidden},  // ours: synthetic answers
    {quad(198, 51, 100, 0), 24, AddressKind::forbidden},
    {quad(203, 0, 113, 0), 24, AddressKind::forbidden},
    {quad(224, 0, 0, 0), 3, AddressKind::forbidden},  // multicast, reserved, broadcast
};

Error bad(std::string message) { return {Errc::invalid, std::move(message)}; }

Status check_width(std::string_view suffix) {
  if (is_shared(suffix)) {
    return bad(fmt::format("`*.{}` is too wide: anybody can have a name below {}; name the hosts",
                           suffix, suffix));
  }
  return {};
}

}  // namespace

bool is_canonical_name(std::string_view host) noexcept {
  if (host.empty() || host.size() > 253) return false;
  std::string_view label;
  for (std::size_t start = 0; start <= host.size();) {
    const auto end = std::min(host.find('.', start), host.size());
    label = host.substr(start, end - start);
    if (!is_label(label)) return false;
    start = end + 1;
  }
  // "127.1", "0x7f000001", "2130706433": resolvers read these as addresses.
  const bool number = std::ranges::all_of(label, [](char c) { return c >= '0' && c <= '9'; });
  return !number && !label.starts_with("0x");
}

std::optional<std::uint32_t> ipv4_from(std::string_view host) noexcept {
  std::uint32_t address = 0;
  for (int part = 0; part < 4; ++part) {
    const auto end = part == 3 ? host.size() : host.find('.');
    if (end == std::string_view::npos || end == 0 || end > 3) return std::nullopt;
    const std::string_view digits = host.substr(0, end);
    if (!std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; }))
      return std::nullopt;
    if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
    unsigned byte = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), byte);
    if (byte > 255) return std::nullopt;
    address = (address << 8U) | byte;
    host.remove_prefix(std::min(end + 1, host.size()));
  }
  return address;
}

AddressKind kind_of(std::uint32_t ipv4) noexcept {
  for (const Block& block : kBlocks) {
    const std::uint32_t mask = ~std::uint32_t{0} << static_cast<unsigned>(32 - block.bits);
    if ((ipv4 & mask) == block.first) return block.kind;
  }
  return AddressKind::public_;
}

std::string to_string(const HostPattern& pattern) {
  return pattern.wildcard ? "*." + pattern.name : pattern.name;
}

Result<HostPattern> parse_host_pattern(std::string_view text) {
  static_assert(std::ranges::is_sorted(kSharedSuffixes));
  if (text == "*" || text == "*.*" || text == "**") {
    return bad(
        fmt::format("`{}` is too wide: name the hosts, or use network.mode = \"public\"", text));
  }
  if (text.find("://") != std::string_view::npos || text.find('/') != std::string_view::npos) {
    return bad(fmt::format("{} is a URL; write only its host, and paths = [\"/…\"] beside it",
                           quoted(text)));
  }
  if (text.find('[') != std::string_view::npos || std::ranges::count(text, ':') > 1) {
    return bad(fmt::format(
        "{}: IPv6 is not reachable from a sandbox; write a name or an IPv4 address", quoted(text)));
  }
  if (text.find(':') != std::string_view::npos) {
    return bad(fmt::format("{}: write only the host here, without a port", quoted(text)));
  }
  if (const auto address = ipv4_from(text)) {
    if (kind_of(*address) == AddressKind::forbidden) {
      return bad(fmt::format(
          "{} can be reached by no rule: loopback, link-local, metadata and reserved addresses are "
          "refused; for the host's own ports use network.host_ports",
          text));
    }
    return HostPattern{std::string{text}, false, address};
  }
  const bool wildcard = text.starts_with("*.");
  const std::string_view name = wildcard ? text.substr(2) : text;
  if (name.find('*') != std::string_view::npos) {
    return bad(fmt::format("{}: `*` may stand only for whole labels at the front: *.example.com",
                           quoted(text)));
  }
  if (std::ranges::any_of(name, [](char c) { return c >= 'A' && c <= 'Z'; })) {
    return bad(fmt::format("{}: write host names in lower case", quoted(text)));
  }
  if (name.ends_with('.'))
    return bad(fmt::format("{}: write host names without a trailing dot", quoted(text)));
  if (std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    return bad(fmt::format("{}: write an international name in its xn-- form", quoted(text)));
  }
  if (!is_canonical_name(name)) {
    return bad(fmt::format(
        "{} is no host name: write labels of a-z, 0-9 and -, joined by dots, or an IPv4 address as "
        "four numbers",
        quoted(text)));
  }
  if (name == "localhost" || name.ends_with(".localhost")) {
    return bad("`localhost` is the sandbox's own; for the host's own ports use network.host_ports");
  }
  if (name == kHostName || name == "cordon.internal") {
    return bad(fmt::format("{} is reached through network.host_ports", quoted(text)));
  }
  if (wildcard) TRY_DO(check_width(name));
  return HostPattern{std::string{name}, wildcard, std::nullopt};
}

}  // namespace cordon::policy
