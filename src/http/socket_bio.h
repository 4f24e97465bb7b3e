// SPDX-License-Identifier: Apache-2.0
// OpenSSL's way to the socket of a stream.
#pragma once

#include <openssl/bio.h>

namespace cordon::http {

class Stream;

// Gives the bytes that the stream was made with, and then those of its socket; never waits. Null
// when there is no memory. The stream outlives it.
BIO* new_socket_bio(Stream& stream);

}  // namespace cordon::http
