// SPDX-License-Identifier: Apache-2.0
// What became of calls of tools: recorded before it happens, told at the end.
#pragma once

#include <string>
#include <vector>

#include "audit/log.h"
#include "mcp/filter_frame.h"
#include "node/denial_book.h"
#include "node/refusal_tally.h"
#include "node/responses.h"

namespace cordon::cli {

class ToolRecord {
 public:
  // `log` and `responses` outlive it.
  ToolRecord(audit::Log& log, audit::Subject subject, std::string server,
             node::Responses& responses)
      : log_{log},
        subject_{std::move(subject)},
        server_{std::move(server)},
        responses_{responses} {}
  ToolRecord(const ToolRecord&) = delete;
  ToolRecord& operator=(const ToolRecord&) = delete;

  // An Error: it is not recorded, and so must not happen.
  Status called(const mcp::Called& call);
  Status refused(const mcp::Refused& refusal);
  // Each once, with how often it was met; what was only counted is written.
  std::vector<Denial> take_denials();

 private:
  audit::Log& log_;
  audit::Subject subject_;
  std::string server_;
  node::Responses& responses_;
  node::DenialBook denials_;
  node::RefusalTally tally_;
};

}  // namespace cordon::cli
