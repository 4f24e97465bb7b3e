// SPDX-License-Identifier: Apache-2.0
// Any bytes as what an E2B client sends: envelopes, starts, creates, builds and paths. What is
// understood is within its bounds, and a path has one spelling.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/e2b/connect.h"
#include "api/e2b/inner_path.h"
#include "api/e2b/process_message.h"
#include "api/e2b/sandbox_request.h"
#include "api/e2b/template_request.h"
#include "promise.h"

namespace {

using cordon::fuzz::broken;

namespace e2b = cordon::api::e2b;

void check_path(std::string_view text) {
  const auto path = e2b::inner_path(text);
  if (!path) return;
  if (!path->starts_with('/')) broken("a path is absolute");
  if ((*path + "/").find("/../") != std::string::npos) broken("a path leads nowhere back");
  if ((*path + "/").find("/./") != std::string::npos) broken("a path has one spelling");
  const auto again = e2b::inner_path(*path);
  if (!again || *again != *path) broken("a path that was resolved is itself");
}

void check_message(std::string_view text) {
  if (const auto start = e2b::read_start(text)) {
    if (start->config.command.empty()) broken("a command has a program");
    for (const std::string& argument : start->config.arguments) {
      if (argument.find('\0') != std::string::npos) broken("an argument ends where it ends");
    }
  }
  cordon::policy::Problems problems{"request"};
  if (const auto request = e2b::read_sandbox_request(text, problems)) {
    if (!request->labels.contains(std::string{e2b::kTemplateLabel})) {
      broken("a sandbox knows its template");
    }
  }
}

// What becomes a part of a file's name, or of an image's, leads nowhere else.
void check_template(std::string_view text) {
  if (const auto name = e2b::read_template_name(text)) {
    if (name->alias.find_first_of("/.:;, \n") != std::string::npos) broken("an alias is one word");
    if (name->tag.find_first_of("/:;, \n") != std::string::npos) broken("a tag is one word");
  }
  if (const auto wanted = e2b::read_new_template(text)) {
    if (wanted->tags.empty()) broken("a template has a tag");
  }
  const auto order = e2b::read_build_order(text);
  if (!order) return;
  for (const e2b::BuildStep& step : order->steps) {
    const bool copies = step.kind == e2b::StepKind::copy;
    if (copies != e2b::is_files_digest(step.files)) broken("a copy, and no other, has its files");
    if (step.arguments.empty()) broken("a step says what it is");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  if (const auto message = e2b::only_message(bytes)) {
    if (e2b::message_envelope(*message) != bytes) broken("an envelope is written as it was");
    check_message(*message);
  }
  check_message(bytes);
  check_template(bytes);
  check_path(bytes);
  return 0;
}
