// SPDX-License-Identifier: Apache-2.0
// The same tree for three shells. Each script first finds the verb that the words so far lead to,
// then gives what may follow there; behind `--`, and where nothing is known, it gives files.
#include <fmt/format.h>

#include "cli/completion_tree.h"

namespace cordon::cli {
namespace {

constexpr std::string_view kAskForIds = "cordon ps -q 2>/dev/null";

// In single quotes of a POSIX shell, and of zsh.
std::string shell_quoted(std::string_view text) {
  std::string made = "'";
  for (const char c : text) made += c == '\'' ? "'\\''" : std::string(1, c);
  return made + "'";
}

// fish knows two escapes in single quotes.
std::string fish_quoted(std::string_view text) {
  std::string made = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') made += '\\';
    made += c;
  }
  return made + "'";
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  return fmt::format("{}", fmt::join(words, between));
}

// Quoted patterns of `case`: every path but that of the whole.
std::string paths_of(const std::vector<const CompletionVerb*>& all, std::string_view between) {
  std::vector<std::string> paths;
  for (const CompletionVerb* const verb : all) {
    if (verb != all.front()) paths.push_back(shell_quoted(verb->path));
  }
  return joined(paths, between);
}

std::string patterns_of(const CompletionVerb& verb, const CompletionOption& option) {
  std::vector<std::string> patterns;
  patterns.reserve(option.names.size());
  for (const std::string& name : option.names)
    patterns.push_back(shell_quoted(verb.path + ' ' + name));
  return joined(patterns, "|");
}

std::vector<std::string> words_under(const CompletionVerb& verb) {
  std::vector<std::string> words;
  words.reserve(verb.verbs.size());
  for (const CompletionVerb& each : verb.verbs) words.push_back(each.name);
  for (const CompletionOption& option : verb.options)
    words.insert(words.end(), option.names.begin(), option.names.end());
  return words;
}

// "word:meaning", as zsh describes.
std::string described(const std::string& word, const std::string& meaning) {
  std::string plain;
  for (const char c : word) plain += c == ':' ? "\\:" : std::string(1, c);
  return shell_quoted(plain + ':' + meaning);
}

}  // namespace

std::string bash_completion(const CompletionVerb& whole) {
  const auto all = with_all_below(whole);
  std::string script = fmt::format(R"(# bash completion of {0}: source <({0} completion bash)
_{0}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} where={0} words= ids= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${{COMP_WORDS[i]}} == -- ]] && return
    case "$where ${{COMP_WORDS[i]}}" in
      {1}) where="$where ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$where ${{COMP_WORDS[COMP_CWORD-1]}}" in
)",
                                   whole.name, paths_of(all, "|"));
  for (const CompletionVerb* const verb : all) {
    for (const CompletionOption& option : verb->options) {
      if (!option.takes_value) continue;
      script += fmt::format("    {}) {}return ;;\n", patterns_of(*verb, option),
                            option.choices.empty()
                                ? ""
                                : fmt::format("COMPREPLY=($(compgen -W {} -- \"$cur\")); ",
                                              shell_quoted(joined(option.choices, " "))));
    }
  }
  script += "  esac\n  case \"$where\" in\n";
  for (const CompletionVerb* const verb : all) {
    script += fmt::format("    {}) words={}{} ;;\n", shell_quoted(verb->path),
                          shell_quoted(joined(words_under(*verb), " ")),
                          verb->takes_sandbox ? fmt::format("; ids=$({})", kAskForIds) : "");
  }
  script += fmt::format(R"(  esac
  if [[ $cur == -* || -z $ids ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$ids" -- "$cur"))
  fi
}}
complete -o default -F _{0} {0}
)",
                        whole.name);
  return script;
}

std::string zsh_completion(const CompletionVerb& whole) {
  const auto all = with_all_below(whole);
  std::string script = fmt::format(R"(#compdef {0}
# zsh completion of {0}: source <({0} completion zsh)
_{0}() {{
  local where={0} ids= i
  local -a known
  for ((i = 2; i < CURRENT; i++)); do
    [[ ${{words[i]}} == -- ]] && {{ _files; return }}
    case "$where ${{words[i]}}" in
      ({1}) where="$where ${{words[i]}}" ;;
    esac
  done
  case "$where ${{words[CURRENT-1]}}" in
)",
                                   whole.name, paths_of(all, "|"));
  for (const CompletionVerb* const verb : all) {
    for (const CompletionOption& option : verb->options) {
      if (!option.takes_value) continue;
      script += fmt::format(
          "    ({}) {}; return ;;\n", patterns_of(*verb, option),
          option.choices.empty() ? "_files" : "compadd -- " + joined(option.choices, " "));
    }
  }
  script += "  esac\n  case \"$where\" in\n";
  for (const CompletionVerb* const verb : all) {
    script += fmt::format("    ({})\n      known=(\n", shell_quoted(verb->path));
    for (const CompletionVerb& each : verb->verbs)
      script += fmt::format("        {}\n", described(each.name, each.meaning));
    for (const CompletionOption& option : verb->options) {
      for (const std::string& name : option.names)
        script += fmt::format("        {}\n", described(name, option.meaning));
    }
    script += fmt::format("      ){} ;;\n",
                          verb->takes_sandbox ? fmt::format("; ids=$({})", kAskForIds) : "");
  }
  script += fmt::format(R"(  esac
  [[ -n $ids ]] && compadd -- ${{(f)ids}}
  _describe {0} known || _files
}}
compdef _{0} {0}
)",
                        whole.name);
  return script;
}

std::string fish_completion(const CompletionVerb& whole) {
  const auto all = with_all_below(whole);
  std::string script = fmt::format(R"(# fish completion of {0}: {0} completion fish | source
function __{0}_is_at
  set -l where {0}
  for word in (commandline -opc)[2..-1]
    test "$word" = --; and return 1
    switch "$where $word"
      case {1}
        set where "$where $word"
    end
  end
  test "$where" = "$argv"
end
)",
                                   whole.name, paths_of(all, " "));
  for (const CompletionVerb* const verb : all) {
    const std::string here =
        fmt::format("complete -c {} -n {}", whole.name,
                    fish_quoted(fmt::format("__{}_is_at {}", whole.name, verb->path)));
    for (const CompletionVerb& each : verb->verbs)
      script += fmt::format("{} -f -a {} -d {}\n", here, each.name, fish_quoted(each.meaning));
    for (const CompletionOption& option : verb->options) {
      script += here;
      for (const std::string& name : option.names)
        script += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (option.takes_value) script += " -r";
      if (!option.choices.empty()) {
        script += fmt::format(" -f -a {}", fish_quoted(joined(option.choices, " ")));
      }
      script += fmt::format(" -d {}\n", fish_quoted(option.meaning));
    }
    if (verb->takes_sandbox)
      script += fmt::format("{} -f -a {}\n", here, fish_quoted(fmt::format("({})", kAskForIds)));
  }
  return script;
}

}  // namespace cordon::cli
