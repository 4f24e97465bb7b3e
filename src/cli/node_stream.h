// SPDX-License-Identifier: Apache-2.0
// Requests and answers that are too long to be held: in pieces, as they come and go.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "async/task.h"
#include "cli/node_client.h"

namespace cordon::cli {

// The next piece of a body; empty: its end.
using BodySource = std::function<async::Task<std::string>()>;
// A body that is made while it is sent. Where `next` fails the request breaks off, and that is the
// error; a refusal may come before all was sent.
async::Task<NodeAnswer> send_pieces(const Node& node, NodeRequest request, BodySource next);

// A piece stays where it is until this returns.
using BodySink = std::function<async::Task<void>(std::string_view piece)>;
// An answer to its own end, which is the whole of it. A refusal fills `refusal`, and then nothing
// is taken. Errors: it broke off, or those of `take`.
async::Task<void> take_pieces(const Node& node, std::string path, BodySink take,
                              NodeAnswer& refusal);

}  // namespace cordon::cli
