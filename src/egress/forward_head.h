// SPDX-License-Identifier: Apache-2.0
// What becomes of heads on their way: pure, and without a connection.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "egress/destination.h"
#include "egress/http_gate.h"
#include "egress/openssl.h"
#include "http/head.h"

namespace cordon::egress {

// Whether the request is for where the connection goes: its Host, its port, its scheme. Asked for
// each request: nothing holds a client to the Host of its first one.
std::optional<HttpRefusal> check_destination(const http::RequestHead& head, const Destination& to);

// The request as the host gets it, in HTTP/1.1 and without what concerns the client's connection.
// Where a grant applies, without credentials of the client, `injected` (the names to be added)
// among them, in all spellings; and without what would have the answer come in pieces or codings
// that cannot be scanned.
http::RequestHead forwarded(http::RequestHead head, const Destination& to,
                            const HttpPermission& permission,
                            const std::vector<std::string>& injected);

// `head` is serialised; `fields` stand at its end in what is given. Their values are in no other
// memory than that and `fields`, which a serialiser could not promise. Refused: names that frame a
// message or concern a hop, and values with bytes that no field has.
Result<SecretText> with_fields(std::string_view head, std::span<const http::Field> fields);

// The answer as the client gets it. Where a grant applies, without what would be a credential in
// turn. Never with a header that says that Cordon refused: that is ours to say.
http::ResponseHead returned(http::ResponseHead head, http::Version client,
                            const HttpPermission& permission,
                            const std::vector<std::string>& injected);

// Whether the answer is written in a coding that a scanner cannot read.
bool is_encoded(const http::Fields& fields) noexcept;

}  // namespace cordon::egress
