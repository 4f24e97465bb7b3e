// SPDX-License-Identifier: Apache-2.0
// Signed heads of a log, from all places that hold some, and who has signed them.
#pragma once

#include <string>
#include <vector>

#include "audit/head.h"
#include "base/result.h"
#include "cli/audit_verbs.h"
#include "os/fd.h"

namespace cordon::cli {

struct KnownHeads {
  std::vector<audit::Head> heads;
  std::vector<audit::PublicKey> keys;  // that are trusted
  // The keys were taken from the heads beside the log: whoever can write there can sign anew.
  bool trusts_itself = false;
  std::vector<audit::Head> forged;  // of the heads, those that no key that they name has signed

  bool is_trusted(const audit::Head& head) const;
};

// Of the log in `directory`, and of --anchor and the caller's own notary. Trusted are the keys of
// --key, else those that the anchors were signed with, else those of the log's own heads.
Result<KnownHeads> known_heads(const AuditOptions& options, const os::Fd& directory,
                               const Context& context);

// In their order, whether each was signed with the key that it names: asked of cordon-notary.
Result<std::vector<bool>> check_signatures(const std::vector<audit::Head>& heads);

// Hex, or the path of a file with that.
Result<audit::PublicKey> read_public_key(const std::string& word);

}  // namespace cordon::cli
