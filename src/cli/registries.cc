// SPDX-License-Identifier: Apache-2.0
#include "cli/registries.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <vector>

#include "cli/text_file.h"

namespace cordon::cli {
namespace {

using policy::RegistryHost;

constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// "https://user@host:8443/path" to host and port; nothing for other schemes.
std::optional<RegistryHost> host_of(std::string_view url) {
  RegistryHost found;
  if (url.starts_with("sparse+")) url.remove_prefix(7);
  if (url.starts_with("https://")) {
    url.remove_prefix(8);
  } else if (url.starts_with("http://")) {
    url.remove_prefix(7);
    found.port = 80;
  } else {
    return std::nullopt;
  }
  url = url.substr(0, url.find_first_of("/?#"));
  if (const auto at = url.rfind('@'); at != std::string_view::npos) url.remove_prefix(at + 1);
  if (const auto colon = url.find(':'); colon != std::string_view::npos) {
    const std::string_view digits = url.substr(colon + 1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), found.port);
    if (error != std::errc{} || end != digits.data() + digits.size() || found.port == 0)
      return std::nullopt;
    url = url.substr(0, colon);
  }
  if (url.empty()) return std::nullopt;
  found.host = url;
  std::ranges::transform(found.host, found.host.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  });
  return found;
}

void add_urls(std::string_view text, std::vector<RegistryHost>& hosts) {
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(" \t\r\n\"',"), text.size());
    if (const auto host = host_of(text.substr(0, end));
        host && std::ranges::find(hosts, *host) == hosts.end()) {
      hosts.push_back(*host);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// The part of the line that may hold URLs, or nothing.
std::string_view value_of(std::string_view tool, std::string_view line) {
  line = trimmed(line);
  if (line.empty() || line.front() == '#' || line.front() == ';') return {};
  if (tool == "@apt")
    return line.starts_with("deb ") || line.starts_with("URIs:") ? line : std::string_view{};
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) return {};
  const std::string_view key = trimmed(line.substr(0, equals));
  const auto is = [&](std::string_view name) { return key == name; };
  const bool wanted = (tool == "@npm" && (is("registry") || key.ends_with(":registry"))) ||
                      (tool == "@pip" && (is("index-url") || is("extra-index-url"))) ||
                      (tool == "@cargo" && (is("registry") || is("index")));
  return wanted ? trimmed(line.substr(equals + 1)) : std::string_view{};
}

void merge(std::vector<RegistryHost>& into, const std::vector<RegistryHost>& more) {
  for (const RegistryHost& host : more) {
    if (std::ranges::find(into, host) == into.end()) into.push_back(host);
  }
}

std::vector<std::string> apt_files(const std::string& system) {
  std::vector<std::string> files = {system + "etc/apt/sources.list"};
  std::error_code ignored;  // a directory that cannot be read names no registry
  for (const auto& entry :
       std::filesystem::directory_iterator{system + "etc/apt/sources.list.d", ignored}) {
    const auto extension = entry.path().extension();
    if (extension == ".list" || extension == ".sources") files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

using ConfigFiles = std::vector<std::pair<std::string, std::vector<std::string>>>;

// Where each tool looks, but for what it would find in the current directory.
ConfigFiles config_files(const Context& context, const std::string& system) {
  const std::string home = context.environment("HOME").value_or("") + '/';
  const auto or_else = [&](const char* variable, const std::string& usual) {
    const auto said = context.environment(variable);
    return said && !said->empty() ? *said : usual;
  };
  const std::string config = or_else("XDG_CONFIG_HOME", home + ".config");
  const std::string cargo = or_else("CARGO_HOME", home + ".cargo");
  return {
      {"@npm",
       {or_else("NPM_CONFIG_USERCONFIG", home + ".npmrc"), system + "etc/npmrc",
        system + "usr/etc/npmrc", system + "usr/local/etc/npmrc"}},
      {"@pip",
       {or_else("PIP_CONFIG_FILE", config + "/pip/pip.conf"), home + ".pip/pip.conf",
        system + "etc/pip.conf"}},
      {"@cargo", {cargo + "/config.toml", cargo + "/config"}},
      {"@apt", apt_files(system)},
  };
}

// By the places that the names lead to, so that no link out of the workspace and back hides it.
bool is_below(const std::string& file, const std::string& directory) {
  std::error_code error;
  const auto real_file = std::filesystem::weakly_canonical(file, error);
  if (error) return true;  // what cannot be placed is not trusted
  const auto real_directory = std::filesystem::weakly_canonical(directory, error);
  if (error) return true;
  const auto end = std::ranges::mismatch(real_directory, real_file).in1;
  return end == real_directory.end();
}

}  // namespace

std::vector<RegistryHost> hosts_in_config(std::string_view tool, std::string_view text) {
  std::vector<RegistryHost> hosts;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    add_urls(value_of(tool, text.substr(0, end)), hosts);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return hosts;
}

policy::Registries look_up_registries(const Context& context, const std::string& workspace,
                                      const std::string& system) {
  policy::Registries registries;
  for (const auto& [tool, names] : config_files(context, system)) {
    std::vector<RegistryHost> hosts;
    for (const std::string& name : names) {
      if (is_below(name, workspace)) continue;
      if (const auto text = read_text_file(name)) merge(hosts, hosts_in_config(tool, *text));
    }
    if (!hosts.empty()) registries[tool] = std::move(hosts);
  }
  // Variables of the caller's own stand before any file, as they do for the tools.
  const auto variables = [&](const std::string& tool, std::initializer_list<const char*> names) {
    std::vector<RegistryHost> hosts;
    for (const char* const name : names) add_urls(context.environment(name).value_or(""), hosts);
    if (!hosts.empty()) registries[tool] = std::move(hosts);
  };
  variables("@npm", {"npm_config_registry", "NPM_CONFIG_REGISTRY"});
  variables("@pip", {"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"});
  return registries;
}

}  // namespace cordon::cli
