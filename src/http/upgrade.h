// SPDX-License-Identifier: Apache-2.0
// The WebSocket handshake: the only upgrade there is.
#pragma once

#include "base/result.h"
#include "http/head.h"

namespace cordon::http {

// Whether the request asks for an upgrade, to whatever and however well. Sent on as an ordinary
// request it is still served: the fields that ask are for one hop.
bool asks_upgrade(const RequestHead& head) noexcept;

// The request is a handshake (RFC 6455, 4.2.1) and nothing more: GET, HTTP/1.1, no body, version
// 13, a key of 16 bytes. Anything less must not open a tunnel, because the server may refuse the
// handshake and read what follows as requests.
Status check_handshake(const RequestHead& head);

// The answer accepts that handshake: 101, an upgrade to websocket alone, without a body, with a
// subprotocol and extensions only where the client offered them. Of Sec-WebSocket-Accept only the
// shape is checked: it proves that the server meant the handshake to the client, which checks it.
Status check_accepted(const RequestHead& asked, const ResponseHead& answer);

}  // namespace cordon::http
