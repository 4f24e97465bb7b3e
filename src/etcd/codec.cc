// SPDX-License-Identifier: Apache-2.0
#include "etcd/codec.h"

#include <etcd/rpc.pb.h>
#include <utility>

namespace cordon::etcd {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

void fill(rpc::RangeRequest& into, const Range& range) {
  into.set_key(range.keys.first);
  into.set_range_end(range.keys.end);
  into.set_limit(range.limit);
  into.set_revision(range.at);
}

void fill(rpc::PutRequest& into, const Put& put) {
  into.set_key(put.key);
  into.set_value(put.value);
  into.set_lease(std::to_underlying(put.lease));
}

void fill(rpc::DeleteRangeRequest& into, const Remove& remove) {
  into.set_key(remove.keys.first);
  into.set_range_end(remove.keys.end);
}

void fill(rpc::RequestOp& into, const Operation& operation) {
  std::visit(Overloaded{
                 [&](const Range& range) { fill(*into.mutable_range(), range); },
                 [&](const Put& put) { fill(*into.mutable_put(), put); },
                 [&](const Remove& remove) { fill(*into.mutable_delete_range(), remove); },
             },
             operation);
}

void fill(rpc::Compare& into, const Compare& compare) {
  into.set_key(compare.key);
  into.set_result(std::to_underlying(compare.is));
  into.set_target(static_cast<std::int32_t>(compare.than.index()));
  std::visit(Overloaded{
                 [&](const Compare::Version& it) { into.set_version(it.number); },
                 [&](const Compare::CreateRevision& it) { into.set_create_revision(it.number); },
                 [&](const Compare::ModRevision& it) { into.set_mod_revision(it.number); },
                 [&](const Compare::Value& it) { into.set_value(it.bytes); },
                 [&](LeaseId it) { into.set_lease(std::to_underlying(it)); },
             },
             compare.than);
}

template <class Message, class Value>
std::string encoded(const Value& value) {
  Message message;
  fill(message, value);
  return message.SerializeAsString();
}

template <class Message>
Result<Message> parsed(const std::string& bytes) {
  Message message;
  if (!message.ParseFromString(bytes)) {
    return Error{Errc::internal, "etcd: an answer that cannot be read"};
  }
  return message;
}

Origin origin_of(const rpc::Header& header) {
  return {
      .cluster = header.cluster_id(), .member = header.member_id(), .revision = header.revision()};
}

KeyValue value_of(rpc::KeyValue& kv) {
  return {.key = std::move(*kv.mutable_key()),
          .value = std::move(*kv.mutable_value()),
          .create_revision = kv.create_revision(),
          .mod_revision = kv.mod_revision(),
          .lease = LeaseId{kv.lease()}};
}

Found found_of(rpc::RangeResponse& answer) {
  Found found{.origin = origin_of(answer.header()), .values = {}, .more = answer.more()};
  found.values.reserve(static_cast<std::size_t>(answer.kvs_size()));
  for (rpc::KeyValue& kv : *answer.mutable_kvs()) found.values.push_back(value_of(kv));
  return found;
}

Removed removed_of(const rpc::DeleteRangeResponse& answer) {
  return {.origin = origin_of(answer.header()), .count = answer.deleted()};
}

}  // namespace

KeyRange below(std::string prefix) {
  // The first key that does not begin so: the last byte that can be counted up, counted up.
  std::string end = prefix;
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xFFU) end.pop_back();
  if (end.empty()) return {.first = std::move(prefix), .end = std::string(1, '\0')};  // all after
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1U);
  return {.first = std::move(prefix), .end = std::move(end)};
}

std::string encode(const Range& range) { return encoded<rpc::RangeRequest>(range); }
std::string encode(const Put& put) { return encoded<rpc::PutRequest>(put); }
std::string encode(const Remove& remove) { return encoded<rpc::DeleteRangeRequest>(remove); }

std::string encode(const Txn& txn) {
  rpc::TxnRequest request;
  for (const Compare& compare : txn.when) fill(*request.add_compare(), compare);
  for (const Operation& operation : txn.then) fill(*request.add_success(), operation);
  for (const Operation& operation : txn.otherwise) fill(*request.add_failure(), operation);
  return request.SerializeAsString();
}

std::string encode_grant(LeaseId id, std::chrono::seconds ttl) {
  rpc::LeaseGrantRequest request;
  request.set_id(std::to_underlying(id));
  request.set_ttl(ttl.count());
  return request.SerializeAsString();
}

std::string encode_revoke(LeaseId id) {
  rpc::LeaseRevokeRequest request;
  request.set_id(std::to_underlying(id));
  return request.SerializeAsString();
}

std::string encode_keep_alive(LeaseId id) {
  rpc::LeaseKeepAliveRequest request;
  request.set_id(std::to_underlying(id));
  return request.SerializeAsString();
}

std::string encode_watch(const KeyRange& keys, Revision from) {
  rpc::WatchRequest request;
  rpc::WatchCreateRequest& create = *request.mutable_create();
  create.set_key(keys.first);
  create.set_range_end(keys.end);
  create.set_start_revision(from);
  create.set_fragment(true);  // else a message may be larger than what is accepted
  return request.SerializeAsString();
}

std::string encode_progress() {
  rpc::WatchRequest request;
  request.mutable_progress();
  return request.SerializeAsString();
}

Result<Found> decode_found(const std::string& bytes) {
  TRY(auto answer, parsed<rpc::RangeResponse>(bytes));
  return found_of(answer);
}

Result<Written> decode_written(const std::string& bytes) {
  TRY(const auto answer, parsed<rpc::PutResponse>(bytes));
  return Written{.origin = origin_of(answer.header())};
}

Result<Removed> decode_removed(const std::string& bytes) {
  TRY(const auto answer, parsed<rpc::DeleteRangeResponse>(bytes));
  return removed_of(answer);
}

Result<Decided> decode_decided(const std::string& bytes) {
  TRY(auto answer, parsed<rpc::TxnResponse>(bytes));
  Decided decided{.origin = origin_of(answer.header()), .held = answer.succeeded(), .answers = {}};
  for (rpc::ResponseOp& one : *answer.mutable_responses()) {
    switch (one.response_case()) {
      case rpc::ResponseOp::kRange:
        decided.answers.emplace_back(found_of(*one.mutable_range()));
        break;
      case rpc::ResponseOp::kPut:
        decided.answers.emplace_back(Written{.origin = origin_of(one.put().header())});
        break;
      case rpc::ResponseOp::kDeleteRange:
        decided.answers.emplace_back(removed_of(one.delete_range()));
        break;
      case rpc::ResponseOp::RESPONSE_NOT_SET:
        return Error{Errc::internal, "etcd: an answer to what was not asked"};
    }
  }
  return decided;
}

Result<Granted> decode_granted(const std::string& bytes) {
  TRY(const auto answer, parsed<rpc::LeaseGrantResponse>(bytes));
  return Granted{.origin = origin_of(answer.header()),
                 .id = LeaseId{answer.id()},
                 .ttl = std::chrono::seconds{answer.ttl()}};
}

Result<Granted> decode_kept_alive(const std::string& bytes) {
  TRY(const auto answer, parsed<rpc::LeaseKeepAliveResponse>(bytes));
  return Granted{.origin = origin_of(answer.header()),
                 .id = LeaseId{answer.id()},
                 .ttl = std::chrono::seconds{answer.ttl()}};
}

Result<WatchMessage> decode_watch(const std::string& bytes) {
  TRY(auto answer, parsed<rpc::WatchResponse>(bytes));
  WatchMessage message{.origin = origin_of(answer.header()),
                       .created = answer.created(),
                       .cancelled = answer.canceled(),
                       .part = answer.fragment(),
                       .compacted = answer.compact_revision(),
                       .reason = answer.cancel_reason(),
                       .events = {}};
  message.events.reserve(static_cast<std::size_t>(answer.events_size()));
  for (rpc::Event& event : *answer.mutable_events()) {
    message.events.push_back({.kind = event.type() == 0 ? Event::Kind::put : Event::Kind::removed,
                              .now = value_of(*event.mutable_kv())});
  }
  return message;
}

}  // namespace cordon::etcd
