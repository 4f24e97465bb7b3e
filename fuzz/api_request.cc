// SPDX-License-Identifier: Apache-2.0
// Any bytes as the body of a request to API v1, the first choosing which: what is understood is
// within the bounds of wire/requests.h; what is refused is refused with a place and words; and a
// policy that passes as a request's names nothing of the host.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "policy/checked.h"
#include "policy/policy.h"
#include "promise.h"
#include "wire/requests.h"

namespace {

using cordon::fuzz::broken;
namespace policy = cordon::policy;
namespace wire = cordon::wire;

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

void check(const wire::StartRequest& start) {
  if (start.command.empty() || start.command.front().empty()) broken("there is a program");
  if (start.command.size() > wire::kMostArguments) broken("arguments have a number");
  for (const std::string& word : start.command) {
    if (word.size() > wire::kLongestArgument || has_nul(word)) broken("an argument is one");
  }
  if (start.environment.size() > wire::kMostVariables) broken("variables have a number");
  for (const auto& [name, value] : start.environment) {
    const bool is_name = !name.empty() && name.find('=') == std::string::npos && !has_nul(name);
    if (!is_name || has_nul(value)) broken("a variable is one");
  }
  const bool is_place = start.directory.empty() || start.directory.front() == '/';
  if (!is_place || has_nul(start.directory)) broken("a directory is absolute");
}

void check(const std::map<std::string, std::string>& labels) {
  if (labels.size() > wire::kMostLabels) broken("labels have a number");
  for (const auto& [name, value] : labels) {
    if (name.size() > wire::kLongestLabel || value.size() > wire::kLongestLabel) {
      broken("a label has a length");
    }
  }
}

void check(const std::optional<std::uint64_t>& life) {
  if (life && (*life < 1 || *life > static_cast<std::uint64_t>(wire::kLongestLife))) {
    broken("a life has an end");
  }
}

void check(const policy::PolicyDocument& document) {
  const auto checked = policy::check(document, policy::Origin::request, {});
  if (!checked) return;
  for (const auto& each : checked->documents()) {
    const policy::PolicyDocument& held = each->document();
    const auto& root = held.filesystem.root;
    if (root && root->value.kind != policy::RootKind::image) broken("a root is an image");
    if (!held.filesystem.host_mounts.items.empty()) broken("no mounts of the host");
    if (!held.network.host_ports.items.empty()) broken("no ports of the host");
    const auto is_private = [](const policy::EgressRule& rule) {
      return rule.addresses == policy::Addresses::private_;
    };
    if (std::ranges::any_of(held.network.egress_allowlist.items, is_private)) {
      broken("no private addresses");
    }
    const auto is_foreign = [](const policy::Grant& grant) {
      return grant.source != policy::SecretSource::secret;
    };
    if (std::ranges::any_of(held.credentials.grants.items, is_foreign)) {
      broken("no secrets of the host");
    }
  }
}

void check(const wire::CreateRequest& create) {
  check(create.labels);
  check(create.timeout_seconds);
  check(create.policy);
}

void check(const wire::RunRequest& run) {
  check(run.create);
  check(run.start);
}

void check(const wire::ChangeRequest& change) {
  if (change.labels) check(*change.labels);
  check(change.timeout_seconds);
  if (change.policy) check(*change.policy);
}

void check(const wire::SignalRequest& signal) {
  if (signal.number < 1 || signal.number > 64) broken("a signal is one");
}

void check(const wire::RevokeRequest&) {}

template <class Read>
void read(Read read_request, std::string_view text) {
  policy::Problems problems{"request"};
  const auto request = read_request(text, problems);
  if (request) {
    if (!problems.empty()) broken("what has problems is refused");
    check(*request);
  } else if (problems.empty() || request.error().text().empty()) {
    broken("what is refused has a reason");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > wire::kLargestRequest) return 0;
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  switch (data[0] % 6) {
    case 0:
      read(wire::read_run_request, text);
      break;
    case 1:
      read(wire::read_create_request, text);
      break;
    case 2:
      read(wire::read_change_request, text);
      break;
    case 3:
      read(wire::read_start_request, text);
      break;
    case 4:
      read(wire::read_signal_request, text);
      break;
    default:
      read(wire::read_revoke_request, text);
      break;
  }
  return 0;
}
