// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp_import.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <filesystem>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/time_text.h"
#include "cli/mcp_name.h"
#include "cli/program_beside.h"
#include "cli/replaced_file.h"
#include "cli/run_words.h"
#include "mcp/json.h"
#include "os/file.h"
#include "os/file_status.h"
#include "terminal/text_filter.h"
#include "wire/json_writer.h"

namespace cordon::cli {
namespace {

using mcp::Json;
using mcp::JsonKind;
using mcp::JsonMember;

constexpr std::size_t kLongestConfiguration = std::size_t{16} << 20U;
constexpr std::size_t kMostBackups = 100;

struct Splice {
  std::size_t begin;
  std::size_t end;
  std::string text;
};

std::string json_of(const std::string& text) {
  std::string out;
  mcp::append_json_text(out, text);
  return out;
}

std::string json_of(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += ", ";
    out += json_of(word);
  }
  return "[" + out + "]";
}

bool says_tools(const std::vector<std::string>& flags) {
  constexpr std::array<std::string_view, 4> kSaying = {"--policy", "--allow-tool", "--ask-tool",
                                                       "--deny-tool"};
  return std::ranges::any_of(flags, [&](const std::string& word) {
    return std::ranges::find(kSaying, word) != kSaying.end();
  });
}

class Importer {
 public:
  Importer(std::string_view text, const ImportOptions& options, const std::string& cordon)
      : text_{text}, options_{options}, cordon_{cordon} {}

  void walk(const Json& value, bool is_top) {
    for (const JsonMember& member : value.members) {
      const bool names_servers = member.key == "mcpServers" ||
                                 (is_top && member.key == "servers") ||
                                 (in_mcp_ && member.key == "servers");
      if (names_servers && member.value.is_object()) {
        for (const JsonMember& server : member.value.members) take(server);
        continue;
      }
      in_mcp_ = is_top && member.key == "mcp";
      walk(member.value, false);
      in_mcp_ = false;
    }
    for (const Json& item : value.items) walk(item, false);
  }

  Imported finish() {
    std::string out;
    std::size_t at = 0;
    for (const Splice& splice : splices_) {
      out += text_.substr(at, splice.begin - at);
      out += splice.text;
      at = splice.end;
    }
    out += text_.substr(at);
    return {std::move(out), std::move(servers_)};
  }

 private:
  void take(const JsonMember& server) {
    if (!options_.name.empty() && server.key != options_.name) return;
    servers_.push_back({server.key, why_left(server), {}});
    if (servers_.back().done.empty()) wrap(server);
  }

  static std::string why_left(const JsonMember& server) {
    const std::string* const command = server.value.find_text("command");
    const Json* const arguments = server.value.find("args");
    if (server.value.find("url") != nullptr) return "left: it is reached by a URL";
    if (command == nullptr) return "left: it has no command";
    if (arguments == nullptr) return {};
    if (arguments->kind != JsonKind::list ||
        !std::ranges::all_of(arguments->items, [](const Json& item) { return item.is_text(); })) {
      return "left: its args are no list of texts";
    }
    const auto& words = arguments->items;
    const bool is_ours = std::filesystem::path{*command}.filename() == "cordon";
    return is_ours && words.size() > 1 && words[0].text == "mcp" ? "wrapped already" : "";
  }

  std::vector<std::string> words_for(const JsonMember& server) const {
    std::vector<std::string> words{options_.flags.begin() + 1, options_.flags.end()};
    const std::string* const command = server.value.find_text("command");
    std::vector<std::string> own{*command};
    if (const Json* const arguments = server.value.find("args")) {
      for (const Json& item : arguments->items) own.push_back(item.text);
    }
    words.emplace_back("--name");
    words.push_back(is_server_name(server.key) ? server.key : server_name_of({server.key}));
    if (!says_tools(options_.flags)) words.insert(words.end(), {"--allow-tool", "*"});
    // Values stay where they are: in the client's own table.
    if (const Json* const environment = server.value.find("env")) {
      for (const JsonMember& variable : environment->members)
        words.insert(words.end(), {"--env", variable.key});
    }
    words.emplace_back("--");
    words.insert(words.end(), own.begin(), own.end());
    return words;
  }

  void wrap(const JsonMember& server) {
    const std::vector<std::string> words = words_for(server);
    const Json& command = *server.value.find("command");
    const Json* const arguments = server.value.find("args");
    std::string first = json_of(cordon_);
    if (arguments == nullptr) first += fmt::format(", \"args\": {}", json_of(words));
    std::vector<Splice> own{{command.begin, command.end, std::move(first)}};
    if (arguments != nullptr) own.push_back({arguments->begin, arguments->end, json_of(words)});
    std::ranges::sort(own, {}, &Splice::begin);
    splices_.insert(splices_.end(), own.begin(), own.end());
    std::vector<std::string> whole{cordon_};
    whole.insert(whole.end(), words.begin(), words.end());
    servers_.back().done = "wrapped";
    servers_.back().command = spelled(whole);
  }

  std::string_view text_;
  const ImportOptions& options_;
  const std::string& cordon_;
  bool in_mcp_ = false;
  std::vector<Splice> splices_;
  std::vector<ImportedServer> servers_;
};

std::string table_of(const Imported& imported) {
  std::string out;
  for (const ImportedServer& server : imported.servers) {
    out += fmt::format("{}: {}\n", terminal::printable(server.name), server.done);
    if (!server.command.empty()) out += fmt::format("  {}\n", terminal::printable(server.command));
  }
  return out;
}

std::string json_table_of(const Imported& imported, const std::string& backup) {
  wire::JsonWriter json;
  json.begin_object();
  if (!backup.empty()) json.text("backup", backup);
  json.key("servers");
  json.begin_array();
  for (const ImportedServer& server : imported.servers) {
    json.begin_object();
    json.text("name", server.name);
    json.text("done", server.done);
    if (!server.command.empty()) json.text("command", server.command);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take() + "\n";
}

// Beside the file, under a name that nobody has; gives it.
Result<std::string> back_up(const std::string& file, const std::string& text, std::uint32_t mode) {
  const SystemClock clock;
  std::string base = file + ".bak-" + to_text(clock.wall()).substr(0, 19);
  std::ranges::replace(base, ':', '-');
  for (std::size_t i = 0; i < kMostBackups; ++i) {
    std::string name = i == 0 ? base : fmt::format("{}.{}", base, i);
    Status made = os::create_file(os::at_cwd(), name.c_str(), text, mode);
    if (made) return name;
    if (made.error().code() != Errc::exists) return std::move(made).error();
  }
  return Error{Errc::exhausted, "too many backups of this second"};
}

Result<std::string> rewrite(const ImportOptions& options) {
  std::error_code error;
  const std::string file = std::filesystem::canonical(options.file, error).string();
  if (error) return Error{Errc::not_found, error.message()};
  TRY(const os::Fd opened, os::openat(os::at_cwd(), file.c_str(), O_RDONLY));
  TRY(const os::FileStatus status, os::statx(opened));
  TRY(const std::string text, os::read_all(opened, kLongestConfiguration));
  TRY(const Imported imported, wrap_servers(text, options, program_beside("cordon")));
  const bool is_changed = imported.text != text;
  std::string backup;
  if (is_changed && !options.dry_run) {
    TRY(backup, back_up(file, text, status.mode & 0777U));
    TRY(const ReplacedFile replaced, ReplacedFile::open(file));
    TRY_DO(replaced.write(imported.text, status.mode & 0777U));
  }
  if (!options.json.empty()) return json_table_of(imported, backup);
  std::string words = table_of(imported);
  if (!backup.empty()) words += fmt::format("the file as it was: {}\n", backup);
  if (!is_changed) words += "nothing to wrap\n";
  return words;
}

}  // namespace

Result<Imported> wrap_servers(std::string_view text, const ImportOptions& options,
                              const std::string& cordon) {
  const mcp::ReadJson read = mcp::read_line(text, mcp::Numbers::any);
  if (!read.is_whole || !read.refused.empty()) {
    return Error{Errc::invalid, fmt::format("not one JSON object without comments that all "
                                            "programs read alike: {}",
                                            read.refused)};
  }
  Importer importer{text, options, cordon};
  importer.walk(read.top, true);
  return importer.finish();
}

void import_servers(const ImportOptions& options, Context& context) {
  auto words = rewrite(options);
  if (!words) return fail(context, std::move(words).error().with(options.file));
  if (options.json.empty() || options.json == "-") {
    context.out << *words;
    return;
  }
  const auto file = ReplacedFile::open(options.json);
  const Status written = file ? file->write(*words, 0600) : file.error();
  if (!written) fail(context, Error{written.error()}.with("--json " + options.json));
}

}  // namespace cordon::cli
