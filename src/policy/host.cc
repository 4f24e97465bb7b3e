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
  std::uint8_t bits;
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

constexpr std::string_view kOutOfReach =
    "{} can be reached by no rule: loopback, link-local, metadata and reserved addresses are "
    "refused; for the host's own ports use network.host_ports";
constexpr unsigned kFewestBits = 8;

// Of the addresses that a rule can reach; nothing: some are public and some private. Single
// addresses that no rule reaches, such as those of metadata, do not matter: each is refused.
std::optional<AddressKind> kind_of_block(std::uint32_t first, std::uint8_t bits) {
  AddressKind kind = AddressKind::public_;
  for (const Block& block : kBlocks) {
    if (block.bits > bits || !is_in_block(first, block.first, block.bits)) continue;
    kind = block.kind;
    break;
  }
  for (const Block& block : kBlocks) {
    const bool inside = block.bits > bits && is_in_block(block.first, first, bits);
    if (inside && block.kind == AddressKind::private_ && block.kind != kind) return std::nullopt;
  }
  return kind;
}

// Before: there is a slash in it.
Result<HostPattern> parse_block(std::string_view text) {
  const auto slash = text.find('/');
  const std::string_view length = text.substr(slash + 1);
  const auto first = ipv4_from(text.substr(0, slash));
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bits);
  const bool number =
      error == std::errc{} && end == length.data() + length.size() && !length.starts_with('0');
  if (!first) {
    return bad(fmt::format("{} is a URL; write only its host, and paths = [\"/…\"] beside it",
                           in_quotes(text)));
  }
  if (length == "0") {
    return bad(fmt::format("{} is too wide: use network.mode = \"public\"", text));
  }
  if (!number || bits > 32) {
    return bad(fmt::format("{} is no block of addresses: write how many bits are fixed, 8 to 31",
                           in_quotes(text)));
  }
  if (bits < kFewestBits) {
    return bad(
        fmt::format("{} is too wide: a block has at least {} fixed bits; for all public "
                    "addresses use network.mode = \"public\"",
                    text, kFewestBits));
  }
  if (bits == 32) return bad(fmt::format("{} is one address: write it without /32", text));
  const std::uint32_t begin = *first >> (32U - bits) << (32U - bits);
  if (begin != *first) {
    return bad(fmt::format("{} begins within a block: write {}.{}.{}.{}/{}", text, begin >> 24U,
                           begin >> 16U & 255U, begin >> 8U & 255U, begin & 255U, bits));
  }
  const auto kind = kind_of_block(begin, static_cast<std::uint8_t>(bits));
  if (!kind) {
    return bad(fmt::format("{} has public and private addresses: write a rule for each", text));
  }
  if (*kind == AddressKind::forbidden) return bad(fmt::format(kOutOfReach, text));
  return HostPattern{std::string{text}, false, begin, static_cast<std::uint8_t>(bits)};
}

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
    if (is_in_block(ipv4, block.first, block.bits)) return block.kind;
  }
  return AddressKind::public_;
}

AddressKind kind_of(const HostPattern& pattern) {
  return kind_of_block(pattern.address.value_or(0), pattern.bits).value_or(AddressKind::forbidden);
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
  if (text.find('/') != std::string_view::npos) return parse_block(text);
  if (text.find('[') != std::string_view::npos || std::ranges::count(text, ':') > 1) {
    return bad(
        fmt::format("{}: IPv6 is not reachable from a sandbox; write a name or an IPv4 address",
                    in_quotes(text)));
  }
  if (text.find(':') != std::string_view::npos) {
    return bad(fmt::format("{}: write only the host here, without a port", in_quotes(text)));
  }
  if (const auto address = ipv4_from(text)) {
    if (kind_of(*address) == AddressKind::forbidden) {
      return bad(fmt::format(kOutOfReach, text));
    }
    return HostPattern{std::string{text}, false, address};
  }
  const bool wildcard = text.starts_with("*.");
  const std::string_view name = wildcard ? text.substr(2) : text;
  if (name.find('*') != std::string_view::npos) {
    return bad(fmt::format("{}: `*` may stand only for whole labels at the front: *.example.com",
                           in_quotes(text)));
  }
  if (std::ranges::any_of(name, [](char c) { return c >= 'A' && c <= 'Z'; })) {
    return bad(fmt::format("{}: write host names in lower case", in_quotes(text)));
  }
  if (name.ends_with('.'))
    return bad(fmt::format("{}: write host names without a trailing dot", in_quotes(text)));
  if (std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    return bad(fmt::format("{}: write an international name in its xn-- form", in_quotes(text)));
  }
  if (!is_canonical_name(name)) {
    return bad(fmt::format(
        "{} is no host name: write labels of a-z, 0-9 and -, joined by dots, or an IPv4 address as "
        "four numbers",
        in_quotes(text)));
  }
  if (name == "localhost" || name.ends_with(".localhost")) {
    return bad("`localhost` is the sandbox's own; for the host's own ports use network.host_ports");
  }
  if (name == kHostName || name == "cordon.internal") {
    return bad(fmt::format("{} is reached through network.host_ports", in_quotes(text)));
  }
  if (wildcard) TRY_DO(check_width(name));
  return HostPattern{std::string{name}, wildcard, std::nullopt};
}

}  // namespace cordon::policy
