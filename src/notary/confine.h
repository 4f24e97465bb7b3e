// SPDX-License-Identifier: Apache-2.0
// What a notary gives up before it hears the first word: everything but its socket and its files.
#pragma once

#include "base/result.h"

namespace cordon::notary {

Status confine();

}  // namespace cordon::notary
