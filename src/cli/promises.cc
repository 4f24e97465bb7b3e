// SPDX-License-Identifier: Apache-2.0
#include "cli/promises.h"

#include <array>
#include <span>

#include <boost/json/array.hpp>
#include <fmt/format.h>

namespace cordon::cli {
namespace {

namespace json = boost::json;
using Sentences = std::span<const std::string_view>;

struct Promise {
  std::string_view isolation;
  std::string_view for_whom;
  Sentences held;
  Sentences not_held;
};

constexpr std::array<std::string_view, 2> kProcessHolds = {
    "what is inside reaches nothing that was not granted",
    "a bug in a part of the kernel that the filter closes does not lead out",
};
constexpr std::array<std::string_view, 2> kProcessDoesNot = {
    "a bug in the part of the kernel that stays open can lead out",
    "sandboxes of one image share its files in memory: a bug in the kernel's page cache reaches "
    "them",
};
constexpr std::array<std::string_view, 1> kGvisorHolds = {
    "a way out needs a second break, after that of the kernel in user space"};
constexpr std::array<std::string_view, 1> kMicrovmHolds = {
    "only a bug of the hypervisor or of the processor leads out"};

constexpr std::array kPromises = {
    Promise{"process", "one user or one organisation; not tenants that are hostile to each other",
            kProcessHolds, kProcessDoesNot},
    Promise{"gvisor", "tenants that are hostile to each other", kGvisorHolds, {}},
    Promise{"microvm", "tenants that are hostile to each other", kMicrovmHolds, {}},
};

// Whatever the isolation.
constexpr std::array<std::string_view, 3> kNeverPromised = {
    "side channels of the hardware are closed",
    "what is sent to an allowed host is harmless",
    "what an agent does inside its grant is wise",
};

const Promise& promise_of(std::string_view isolation) {
  static constexpr Promise kNothing{"unknown", "nobody", {}, {}};
  for (const Promise& promise : kPromises) {
    if (promise.isolation == isolation) return promise;
  }
  return kNothing;
}

json::array list_of(Sentences sentences) {
  json::array list;
  for (const std::string_view sentence : sentences) list.emplace_back(sentence);
  return list;
}

}  // namespace

std::string promises_text(std::string_view isolation) {
  const Promise& promise = promise_of(isolation);
  std::string text = fmt::format("isolation  {}: for {}\n", promise.isolation, promise.for_whom);
  for (const std::string_view sentence : promise.held)
    text += fmt::format("  promised      {}\n", sentence);
  for (const std::string_view sentence : promise.not_held)
    text += fmt::format("  not promised  {}\n", sentence);
  text += "  no isolation promises that\n";
  for (const std::string_view sentence : kNeverPromised)
    text += fmt::format("                {}\n", sentence);
  return text;
}

json::object promises_json(std::string_view isolation) {
  const Promise& promise = promise_of(isolation);
  return {{"isolation", promise.isolation},
          {"for", promise.for_whom},
          {"promised", list_of(promise.held)},
          {"not_promised", list_of(promise.not_held)},
          {"never_promised", list_of(kNeverPromised)}};
}

}  // namespace cordon::cli
