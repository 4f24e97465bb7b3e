// SPDX-License-Identifier: Apache-2.0
// The store as a node changes it, which may not write there: cordon-keeper does what it asks for.
#pragma once

#include "base/result.h"
#include "frame/keeper.h"
#include "image/store.h"
#include "image/unpacker.h"
#include "os/fd.h"

namespace cordon::image {

// Of all that a node may have made.
inline constexpr std::size_t kMostNodeImages = 1'000;

// What the node wants, done or refused; `archive` belongs to KeepImage. Names other than a node's
// own (frame::kNodeImages) are refused, whatever is wanted of them.
frame::FromKeeper keep(const Store& store, const Unpacker& unpacker, const frame::ToKeeper& wanted,
                       const os::Fd& archive);

// Answers the node until it closes. An error: it spoke what nobody understands.
Status keep_for_node(const Store& store, const Unpacker& unpacker, const os::Fd& node);

}  // namespace cordon::image
