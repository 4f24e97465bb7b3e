// SPDX-License-Identifier: Apache-2.0
// What a broker is started for to read one source of secrets: it tells the serving broker what it
// read, and ends.
#pragma once

#include "base/result.h"
#include "os/fd.h"
#include "source/secret_source.h"

namespace cordon::broker {

// `task`: a file with a frame::SourceTask. `broker`: a socket to the serving broker, which is told
// also why nothing was read; that is no error here.
Status read_for_broker(const os::Fd& task, const os::Fd& broker,
                       const source::Surroundings& surroundings);

}  // namespace cordon::broker
