// SPDX-License-Identifier: Apache-2.0
// `extends`: a document starts from presets and adds to them.
#pragma once

#include "policy/document.h"
#include "policy/problem.h"

namespace cordon::policy {

// `document` over all the presets that it extends, and those that they extend. Lists are joined
// (presets first); a value that the document states replaces a preset's, and so do a mount, a grant
// and a variable the preset's of the same target or name. Places keep telling which
// file a rule came from. Unknown presets go to `problems`.
PolicyDocument extend(const PolicyDocument& document, Problems& problems);

// `over` upon `under`, by the same rules: both belong to one author, as a file and the flags beside
// it do. Presets that either extends are extended by the whole.
PolicyDocument lay_over(const PolicyDocument& over, const PolicyDocument& under);

}  // namespace cordon::policy
