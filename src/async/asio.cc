// SPDX-License-Identifier: Apache-2.0
// Asio and Beast, compiled once: every other file sees declarations only.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
