// SPDX-License-Identifier: Apache-2.0
#include "api/rest/metrics_text.h"

#include <fmt/format.h>

namespace cordon::api {

void MetricsText::add(std::string_view kind, std::string_view name, std::string_view help,
                      std::uint64_t value) {
  text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, kind, value);
}

}  // namespace cordon::api
