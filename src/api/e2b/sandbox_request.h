// SPDX-License-Identifier: Apache-2.0
// A sandbox as clients of this face ask for it, said in the words of API v1. (pure)
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/requests.h"

namespace cordon::api::e2b {

// What is remembered of one beside what every sandbox has, among its labels.
inline constexpr std::string_view kOwnLabels = "e2b.";
inline constexpr std::string_view kTemplateLabel = "e2b.template";
inline constexpr std::string_view kPrivateLabel = "e2b.private";  // there: its ports want a token
// Of a template: whose its processes are, and where they begin, where nobody says it.
inline constexpr std::string_view kUserLabel = "e2b.user";
inline constexpr std::string_view kDirectoryLabel = "e2b.directory";

// Of sandboxes that begin with the supervisor of code contexts.
inline constexpr std::string_view kInterpreterTemplate = "code-interpreter-v1";

// Where a request says nothing.
inline constexpr std::uint64_t kUsualLife = 300;  // seconds

// What a sandbox with these labels was made from; one of API v1 as if it had said nothing.
std::string template_of(const std::map<std::string, std::string>& labels);

// The templates that stand for the node's own image.
bool is_usual_template(std::string_view name) noexcept;

// What a template that was built here stands for.
struct TemplateRoot {
  std::string image;
  std::uint64_t processors = 0;  // 0: as usual
  std::uint64_t memory_megabytes = 0;
  std::string user;
  std::string directory;
};

// What a create asks to be made from.
Result<std::string> template_in(std::string_view body);

// `body`: of a create. `root`: of its template, where one was built here. What it leaves out stays
// as the node has it: nothing outside is reached. A template that is not usual is the name of an
// image. `invalid`: it asks for what this face does not have, or not as it is meant; with all of it
// in `problems` where the policy is at fault.
Result<wire::CreateRequest> read_sandbox_request(std::string_view body, policy::Problems& problems,
                                                 const TemplateRoot* root = nullptr);
// The first half of it: the request as a client of API v1 would write it.
Result<std::string> as_create_request(std::string_view body, const TemplateRoot* root = nullptr);

// `body`: of a change of what a sandbox reaches. Such changes of API v1 only narrow: what is not
// named any more is not reached, and nothing is that was not before.
Result<wire::ChangeRequest> read_network_change(std::string_view body, policy::Problems& problems);
Result<std::string> as_network_change(std::string_view body);

}  // namespace cordon::api::e2b
