// SPDX-License-Identifier: Apache-2.0
// What the index of a cell answers to gateways.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "async/task.h"
#include "base/clock.h"
#include "fleet/cell_index.h"
#include "fleet/census_readers.h"
#include "fleet/index_list.h"
#include "fleet/unit_desk.h"
#include "gate/gate.h"
#include "http/exchange.h"

namespace cordon::fleet {

// Used from the loop's thread only. One that does not act says so, and answers nothing else.
class IndexService {
 public:
  // All outlive it.
  struct Parts {
    std::uint16_t cell;
    const CellIndex& index;
    const CensusReaders& readers;
    UnitDesk& desk;
    const gate::Gate& gate;
    const Clock& clock;
  };
  explicit IndexService(Parts parts) : parts_{parts} {}

  async::Task<void> handle(http::Exchange& exchange);

 private:
  async::Task<void> serve(http::Exchange& exchange);
  async::Task<void> health(http::Exchange& exchange);
  async::Task<void> list(http::Exchange& exchange, const gate::Bearer& bearer, bool is_e2b);
  // POST /v1/units
  async::Task<void> units(http::Exchange& exchange, const gate::Bearer& bearer);

  Parts parts_;
};

}  // namespace cordon::fleet
