// SPDX-License-Identifier: Apache-2.0
// What somebody probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cordon::policy {

// The one of `known` that is nearest to `word`, or empty when none is near: at most a third of its
// letters differ, or it is a word that other tools use for the same thing ("files" for
// "filesystem").
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// "; did you mean `hide`?", or empty.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace cordon::policy
