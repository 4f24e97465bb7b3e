// SPDX-License-Identifier: Apache-2.0
// What a document may name, by who wrote it. Host things (files, directories, commands, variables,
// ports and private addresses of this machine) are the user's and the operator's to give: a request
// and a workspace file can never name them, not even through a preset.
#pragma once

#include "policy/document.h"
#include "policy/problem.h"

namespace cordon::policy {

// `document` with its presets laid under it.
void check_origin(const PolicyDocument& document, Origin origin, Problems& problems);

}  // namespace cordon::policy
