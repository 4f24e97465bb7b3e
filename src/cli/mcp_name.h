// SPDX-License-Identifier: Apache-2.0
// What a server is called in a policy where nobody says it.
#pragma once

#include <string>
#include <vector>

namespace cordon::cli {

// Of `npx -y @modelcontextprotocol/server-filesystem@1 .`: "filesystem"; of `/opt/x/time.py`:
// "time". Always a name that [tools.NAME] can have.
std::string server_name_of(const std::vector<std::string>& command);
bool is_server_name(const std::string& name);

}  // namespace cordon::cli
