// SPDX-License-Identifier: Apache-2.0
// Fields that concern one connection only and are never passed on.
#pragma once

#include <string_view>

#include "http/head.h"

namespace cordon::http {

// Whether `value` is a list of at most 32 tokens, as Connection has it; elements may be empty.
bool is_option_list(std::string_view value) noexcept;

// Whether a Connection field lists `option`, in any case.
bool has_option(const Fields& fields, std::string_view option) noexcept;

// Whether the sender would use the connection again after this message.
bool keeps_alive(Version version, const Fields& fields) noexcept;

// Removes what is meant for the next hop alone: Connection and all that it names, Keep-Alive,
// Proxy and Proxy-*, TE, Trailer, Upgrade and the settings of an upgrade to HTTP/2. Not removed,
// though Connection name them: Authorization, Cookie, Expect and Content-*, by whose loss the
// message would mean something else. Add fields of our own *after* this: then no sender can have
// them removed by their name.
void strip_hop_by_hop(Fields& fields);

}  // namespace cordon::http
