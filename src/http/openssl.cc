// SPDX-License-Identifier: Apache-2.0
#include "http/openssl.h"

#include <array>
#include <openssl/err.h>
#include <string>
#include <utility>

namespace cordon::http {

void start_openssl() {
  // Of the strings of errors and algorithms only those that are asked for are loaded.
  ::OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
}

Error openssl_error(std::string_view call, Errc code) {
  std::string text{call};
  if (const auto last = ::ERR_peek_last_error(); last != 0) {
    std::array<char, 256> words{};
    ::ERR_error_string_n(last, words.data(), words.size());
    const char* const reason = ::ERR_reason_error_string(last);
    text.append(": ").append(reason != nullptr ? reason : words.data());
  }
  ::ERR_clear_error();
  return {code, std::move(text)};
}

}  // namespace cordon::http
