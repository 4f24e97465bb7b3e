// SPDX-License-Identifier: Apache-2.0
#include "cli/preset_names.h"

namespace cordon::cli {
namespace {

constexpr PresetName kNames[] = {
    {"claude", "claude"},
    {"codex", "codex"},
    {"gemini", "gemini"},
    {"cursor-agent", "coding-agent"},
    {"opencode", "coding-agent"},
    {"aider", "coding-agent"},
    {"npm", "node"},
    {"npx", "node"},
    {"node", "node"},
    {"yarn", "node"},
    {"pnpm", "node"},
    {"pip", "python"},
    {"pip3", "python"},
    {"python", "python"},
    {"python3", "python"},
    {"uv", "python"},
    {"make", "build"},
    {"cmake", "build"},
    {"ninja", "build"},
    {"cargo", "build"},
    {"go", "build"},
};

}  // namespace

std::span<const PresetName> preset_names() noexcept { return kNames; }

}  // namespace cordon::cli
