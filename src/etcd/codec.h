// SPDX-License-Identifier: Apache-2.0
// Values of etcd's API as bytes of protobuf: the one place that knows the generated classes.
#pragma once

#include <string>

#include "base/result.h"
#include "etcd/values.h"

namespace cordon::etcd {

std::string encode(const Range& range);
std::string encode(const Put& put);
std::string encode(const Remove& remove);
std::string encode(const Txn& txn);
std::string encode_grant(LeaseId id, std::chrono::seconds ttl);
std::string encode_revoke(LeaseId id);
std::string encode_keep_alive(LeaseId id);
// From `from` on, which may lie in the future.
std::string encode_watch(const KeyRange& keys, Revision from);
// Is answered by whoever serves the watch, with a message without events.
std::string encode_progress();

// Errc::internal for bytes that are no such message.
Result<Found> decode_found(const std::string& bytes);
Result<Written> decode_written(const std::string& bytes);
Result<Removed> decode_removed(const std::string& bytes);
Result<Decided> decode_decided(const std::string& bytes);
Result<Granted> decode_granted(const std::string& bytes);
Result<Granted> decode_kept_alive(const std::string& bytes);
Result<WatchMessage> decode_watch(const std::string& bytes);

}  // namespace cordon::etcd
