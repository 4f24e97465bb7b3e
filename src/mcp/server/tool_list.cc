// SPDX-License-Identifier: Apache-2.0
#include "mcp/server/tool_list.h"

#include <array>
#include <string>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>

#include "mcp/server/schema.h"

namespace cordon::mcp::server {
namespace {

// As they are told in every report of Cordon.
constexpr std::string_view kDenials =
    R"({"type":"array","description":"What the sandbox refused. The same act is refused again: do not retry.",
 "items":{"type":"object","additionalProperties":false,
  "properties":{"code":{"type":"string"},"tried":{"type":"string"},"resolved":{"type":"string"},"rule":{"type":"string"},
   "why":{"type":"string"},"fix":{"type":"string","description":"What a person may type, outside, to allow it"},
   "action":{"type":"string","description":"What you may do"},"retryable":{"type":"boolean"},"count":{"type":"integer"}},
  "required":["code","tried","resolved","rule","why","fix","action","retryable","count"]}})";

constexpr std::string_view kTimeout = R"({"type":"integer","minimum":0,"maximum":50,"default":50,
 "description":"How long to wait for its end. What runs longer goes on: the answer then has running=true and a process; 0 starts it in the background"})";

constexpr std::string_view kMostOutput =
    R"({"type":"integer","minimum":100,"maximum":100000,"default":20000,
 "description":"Characters of each stream to answer with; the rest stays for read_output"})";

constexpr std::string_view kSandbox =
    R"({"type":"string","description":"A sandbox that request_access named; by default the usual one"})";

constexpr std::string_view kCommandResult = R"({"type":"object","additionalProperties":false,
 "properties":{
  "exit_code":{"type":["integer","null"],"description":"null: it still runs, or a signal or limit ended it"},
  "signal":{"type":["string","null"]},
  "running":{"type":"boolean"},
  "process":{"type":["string","null"],"description":"While it runs: its name for the tool process"},
  "stdout":{"type":"string"},"stderr":{"type":"string"},
  "truncated":{"type":"boolean"},
  "output_id":{"type":["string","null"],"description":"Where output was cut: its name for read_output"},
  "duration_ms":{"type":"integer"},
  "ended_by":{"type":["string","null"],"description":"Where a limit or Cordon ended it: which, in a sentence"},
  "changed":{"type":["object","null"],"description":"Of all that waits for apply; null: not known, or nothing waits here",
   "additionalProperties":false,"properties":{"added":{"type":"integer"},"modified":{"type":"integer"},"deleted":{"type":"integer"}},
   "required":["added","modified","deleted"]},
  "denials":$denials,
  "level":{"type":"string","description":"How much of the policy this host holds: full or supervised"},
  "sandbox":{"type":"string"}$more},
 "required":["exit_code","signal","running","process","stdout","stderr","truncated","output_id","duration_ms","ended_by","changed","denials","level","sandbox"]})";

constexpr std::string_view kRun = R"({"name":"run","title":"Run a command in the sandbox",
 "description":"Runs a command in a sandbox over the workspace. $writes A non-zero exit is a normal result. What was refused is in denials.",
 "inputSchema":{"type":"object","additionalProperties":false,"properties":{
  "command":{"type":"string","maxLength":131072,"description":"For sh -c; this or argv"},
  "argv":{"type":"array","items":{"type":"string","maxLength":131072},"minItems":1,"maxItems":1024,"description":"The program and its arguments, without a shell"},
  "cwd":{"type":"string","maxLength":4096,"description":"Below the workspace, or absolute"},
  "stdin":{"type":"string","description":"All of its input, unless keep_stdin"},
  "keep_stdin":{"type":"boolean","default":false,"description":"Its input stays open for the tool process"},
  "env":{"type":"object","additionalProperties":{"type":"string"},"description":"Beside what the policy sets"},
  "timeout_s":$timeout,"max_output":$most,"sandbox":$sandbox}},
 "outputSchema":$result,
 "annotations":{"title":"Run a command in the sandbox","readOnlyHint":false,"destructiveHint":$live,"idempotentHint":false,"openWorldHint":$open}})";

constexpr std::string_view kRunCode = R"({"name":"run_code","title":"Run code in the sandbox",
 "description":"Runs a piece of Python, JavaScript or Bash with the interpreter of the sandbox, in the workspace, as run does. Of Python, result is the value of its last expression.",
 "inputSchema":{"type":"object","additionalProperties":false,"properties":{
  "language":{"type":"string","enum":["python","node","bash"]},
  "code":{"type":"string"},
  "timeout_s":$timeout,"max_output":$most,"sandbox":$sandbox},
  "required":["language","code"]},
 "outputSchema":$result_of_code,
 "annotations":{"title":"Run code in the sandbox","readOnlyHint":false,"destructiveHint":$live,"idempotentHint":false,"openWorldHint":$open}})";

constexpr std::string_view kProcess = R"({"name":"process","title":"Follow a running process",
 "description":"Reads from, writes to, signals or waits for a process that run left running. Its sandbox ends with its last process.",
 "inputSchema":{"type":"object","additionalProperties":false,"properties":{
  "process":{"type":"string","description":"As run named it"},
  "action":{"type":"string","enum":["read","write","signal","wait"]},
  "data":{"type":"string","description":"To write"},
  "eof":{"type":"boolean","default":false,"description":"Nothing is written after data"},
  "signal":{"type":"string","enum":["SIGHUP","SIGINT","SIGQUIT","SIGKILL","SIGUSR1","SIGUSR2","SIGTERM","SIGCONT","SIGSTOP"],"description":"To its process group"},
  "since":{"type":"integer","minimum":0,"description":"Output from here on; by default what no answer had yet"},
  "timeout_s":{"type":"integer","minimum":0,"maximum":50,"default":10,"description":"Of wait: until it has ended; of read: until there is output"},
  "max_output":$most},
  "required":["process","action"]},
 "outputSchema":{"type":"object","additionalProperties":false,"properties":{
  "running":{"type":"boolean"},"exit_code":{"type":["integer","null"]},"signal":{"type":["string","null"]},
  "ended_by":{"type":["string","null"]},
  "output":{"type":"string","description":"Of both streams, as it came"},
  "next":{"type":"integer","description":"For since"},
  "skipped":{"type":"integer","description":"Bytes before output that are not kept any more"},
  "truncated":{"type":"boolean","description":"There is more from next on"},
  "denials":$denials},
  "required":["running","exit_code","signal","ended_by","output","next","skipped","truncated","denials"]},
 "annotations":{"title":"Follow a running process","readOnlyHint":false,"destructiveHint":$live,"idempotentHint":false,"openWorldHint":$open}})";

constexpr std::string_view kReadOutput = R"({"name":"read_output","title":"Read more of an output",
 "description":"Reads output that an answer had no room for. It is kept for a while only.",
 "inputSchema":{"type":"object","additionalProperties":false,"properties":{
  "output_id":{"type":"string"},
  "offset":{"type":"integer","minimum":0,"default":0,"description":"In bytes"},
  "limit":{"type":"integer","minimum":1,"maximum":100000,"default":20000,"description":"Bytes at most"},
  "grep":{"type":"string","maxLength":1000,"description":"Only lines with this text in them"}},
  "required":["output_id"]},
 "outputSchema":{"type":"object","additionalProperties":false,"properties":{
  "text":{"type":"string"},"next":{"type":["integer","null"],"description":"For offset; null: this was the end"},"size":{"type":"integer"}},
  "required":["text","next","size"]},
 "annotations":{"title":"Read more of an output","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}})";

constexpr std::string_view kDiff = R"({"name":"diff","title":"Show what waits for review",
 "description":"Shows what all commands so far changed in the workspace and has not landed there. Its hash is what apply wants.",
 "inputSchema":{"type":"object","additionalProperties":false,"properties":{
  "path":{"type":"string","maxLength":4096,"description":"Only this file, or what is below this directory"},
  "format":{"type":"string","enum":["stat","patch"],"default":"stat"},
  "max_output":$most}},
 "outputSchema":{"type":"object","additionalProperties":false,"properties":{
  "files":{"type":"array","items":{"type":"object","additionalProperties":false,"properties":{
   "path":{"type":"string"},"kind":{"type":"string"},"type":{"type":"string"},
   "added":{"type":["integer","null"],"description":"Lines"},"removed":{"type":["integer","null"]},
   "conflict":{"type":"boolean","description":"The workspace's own changed meanwhile"},
   "flags":{"type":"array","items":{"type":"string"},"description":"Why a person should look twice"}},
   "required":["path","kind","type","added","removed","conflict","flags"]}},
  "total":{"type":"integer"},
  "patch":{"type":["string","null"]},
  "truncated":{"type":"boolean"},
  "expect":{"type":"string","description":"Of all of it, for apply"},
  "run":{"type":["string","null"],"description":"Its name for cordon diff and cordon apply, which people type"}},
  "required":["files","total","patch","truncated","expect","run"]},
 "annotations":{"title":"Show what waits for review","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}})";

constexpr std::string_view kApply = R"({"name":"apply","title":"Land changes in the workspace",
 "description":"Brings changes that diff showed into the workspace, after a person has agreed.",
 "inputSchema":{"type":"object","additionalProperties":false,"properties":{
  "expect":{"type":"string","description":"As diff gave it: nothing but what was shown is applied"},
  "paths":{"type":"array","items":{"type":"string","maxLength":4096},"minItems":1,"maxItems":1000,"description":"Files or directories; by default all"}},
  "required":["expect"]},
 "outputSchema":{"type":"object","additionalProperties":false,"properties":{
  "applied":{"type":"array","items":{"type":"string"}},
  "left":{"type":"array","items":{"type":"object","additionalProperties":false,"properties":{"path":{"type":"string"},"reason":{"type":"string"},"conflict":{"type":"boolean"}},"required":["path","reason","conflict"]}},
  "remaining":{"type":"integer"}},
  "required":["applied","left","remaining"]},
 "annotations":{"title":"Land changes in the workspace","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}})";

constexpr std::string_view kExplain = R"({"name":"explain","title":"Ask what the policy allows",
 "description":"Tells whether the policy allows an act, by which rule, and what would change that. Nothing is done.",
 "inputSchema":{"type":"object","additionalProperties":false,"properties":{
  "op":{"type":"string","enum":["read","write","exec","net"]},
  "target":{"type":"string","maxLength":4096,"description":"A path, or HOST[:PORT]"},
  "sandbox":$sandbox},
  "required":["op","target"]},
 "outputSchema":{"type":"object","additionalProperties":false,"properties":{
  "allowed":{"type":"boolean"},"rule":{"type":"string"},"why":{"type":"string"},
  "grant":{"type":["string","null"],"description":"What a person would change; null: nothing is to be changed"}},
  "required":["allowed","rule","why","grant"]},
 "annotations":{"title":"Ask what the policy allows","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}})";

constexpr std::string_view kRequestAccess =
    R"({"name":"request_access","title":"Ask a person for access",
 "description":"Asks a person to allow what was denied. Granted access is in a new sandbox, which the answer names; no sandbox that runs is ever widened.",
 "inputSchema":{"type":"object","additionalProperties":false,"properties":{
  "op":{"type":"string","enum":["read","write","net","port"]},
  "target":{"type":"string","maxLength":4096,"description":"A path, HOST[:PORT], or a port of the host"},
  "reason":{"type":"string","maxLength":500},
  "scope":{"type":"string","enum":["once","session"],"default":"once","description":"For one run, or until the server ends"}},
  "required":["op","target","reason"]},
 "outputSchema":{"type":"object","additionalProperties":false,"properties":{
  "decision":{"type":"string","enum":["granted","denied"]},
  "sandbox":{"type":["string","null"],"description":"Where granted: for run"},
  "why":{"type":"string"},
  "fix":{"type":["string","null"],"description":"Where denied: what a person may type"}},
  "required":["decision","sandbox","why","fix"]},
 "annotations":{"title":"Ask a person for access","readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,"openWorldHint":false}})";

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
}

json::value declared(std::string_view text, const ToolSettings& settings) {
  constexpr std::string_view kWaits =
      "What it writes there waits in a layer until a person lets it in (diff, apply).";
  constexpr std::string_view kLands = "What it writes there lands at once.";
  std::string whole{text};
  // The longer name first: one begins with the other.
  replace_all(whole, "$result_of_code", kCommandResult);
  replace_all(whole, "$more",
              text == kRunCode ? R"(,"result":{"type":["string","null"]})" : std::string_view{});
  replace_all(whole, "$result", kCommandResult);
  replace_all(whole, "$more", {});
  replace_all(whole, "$denials", kDenials);
  replace_all(whole, "$timeout", kTimeout);
  replace_all(whole, "$most", kMostOutput);
  replace_all(whole, "$sandbox", kSandbox);
  replace_all(whole, "$writes", settings.is_live ? kLands : kWaits);
  replace_all(whole, "$live", settings.is_live ? "true" : "false");
  replace_all(whole, "$open", settings.reaches_network ? "true" : "false");
  return json::parse(whole);
}

}  // namespace

ToolList::ToolList(const ToolSettings& settings) {
  for (const std::string_view text :
       {kRun, kRunCode, kProcess, kReadOutput, kDiff, kApply, kExplain, kRequestAccess}) {
    if (settings.is_live && (text == kDiff || text == kApply)) continue;
    tools_.push_back(declared(text, settings));
  }
}

const json::object* ToolList::find(std::string_view name) const {
  for (const json::value& tool : tools_) {
    if (tool.at("name").as_string() == name) return &tool.as_object();
  }
  return nullptr;
}

Status check_arguments(const json::object& tool, const json::object& arguments) {
  return fits(tool.at("inputSchema").as_object(), arguments);
}

}  // namespace cordon::mcp::server
