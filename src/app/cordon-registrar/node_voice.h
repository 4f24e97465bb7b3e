// SPDX-License-Identifier: Apache-2.0
// The node beside us: one request at a time, each on a connection of its own.
#pragma once

#include <string>

#include "async/task.h"
#include "fleet/registrar.h"

namespace cordon::registrar {

// At its Unix socket, where we are its operator by who we are. `unavailable`, `timeout`: it does
// not answer.
async::Task<fleet::Registrar::Said> ask_node(std::string socket,
                                             fleet::Registrar::Question question);

}  // namespace cordon::registrar
