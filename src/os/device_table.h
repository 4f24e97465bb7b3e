// SPDX-License-Identifier: Apache-2.0
// The devices of a sandbox: these, and no others.
#pragma once

namespace cordon::os {

struct DeviceNode {
  const char* name;
  unsigned major_number;
  unsigned minor_number;
};
inline constexpr DeviceNode kDeviceNodes[] = {{"null", 1, 3},   {"zero", 1, 5},    {"full", 1, 7},
                                              {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}};

struct DeviceLink {
  const char* name;
  const char* to;
};
inline constexpr DeviceLink kDeviceLinks[] = {{"fd", "/proc/self/fd"},
                                              {"stdin", "/proc/self/fd/0"},
                                              {"stdout", "/proc/self/fd/1"},
                                              {"stderr", "/proc/self/fd/2"},
                                              {"ptmx", "pts/ptmx"}};

}  // namespace cordon::os
