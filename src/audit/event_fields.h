// SPDX-License-Identifier: Apache-2.0
// The fields of each event, in their order: listed once, walked by the writer and by the reader.
#pragma once

#include <concepts>
#include <type_traits>

#include "record/audit_event.h"

namespace cordon::audit {

// `Event` is T or const T.
template <class Event, class T>
concept Of = std::same_as<std::remove_const_t<Event>, T>;

// `walk.some` leaves a field out whose value is the usual one: nothing, or what is given.
template <class Walk, Of<PolicyAccepted> Event>
void fields(Walk& walk, Event& event) {
  walk.text("digest", event.digest);
}

template <class Walk, Of<SandboxStarted> Event>
void fields(Walk& walk, Event& event) {
  walk.choice("isolation", event.isolation, Isolation::microvm);
  walk.list("mechanisms", event.enforcement.mechanisms, [](auto& inner, auto& mechanism) {
    inner.text("name", mechanism.name);
    inner.choice("hold", mechanism.hold, Hold::held);
    inner.some_text("detail", mechanism.detail);
  });
  walk.texts("reported", event.enforcement.reported);
}

template <class Walk, Of<ActRefused> Event>
void fields(Walk& walk, Event& event) {
  auto& denial = event.denial;
  walk.text("code", denial.code);
  walk.text("tried", denial.tried);
  walk.some_text("resolved", denial.resolved);
  walk.text("rule", denial.rule);
  walk.some_text("why", denial.why);
  walk.some_text("fix", denial.fix);
  walk.some_text("action", denial.action);
  walk.flag("retry_helps", denial.retry_helps);
  walk.number("count", denial.count);
}

template <class Walk, Of<NetworkUsed> Event>
void fields(Walk& walk, Event& event) {
  walk.text("host", event.host);
  walk.number("port", event.port);
  walk.some_text("address", event.address);
  walk.some_number("count", event.count, std::uint64_t{1});
  walk.some_text("method", event.method);
  walk.some_text("path", event.path);
  walk.some_number("status", event.status, std::uint32_t{0});
  if (!event.ended) return;
  walk.number("bytes_out", event.bytes_out);
  walk.number("bytes_in", event.bytes_in);
}

template <class Walk, Of<CredentialUsed> Event>
void fields(Walk& walk, Event& event) {
  walk.text("grant", event.grant);
  walk.text("host", event.host);
  walk.text("method", event.method);
  walk.text("path", event.path);
  walk.text("verdict", event.verdict);
}

template <class Walk, Of<FileMoved> Event>
void fields(Walk& walk, Event& event) {
  walk.some_text("key", event.key);
  walk.text("request", event.request);
  walk.text("path", event.path);
  walk.some_number("offset", event.offset, std::uint64_t{0});
  walk.number("bytes", event.bytes);
  walk.text("sha256", event.sha256);
  walk.flag("whole", event.is_whole);
}

template <class Walk, Of<RequestBegun> Event>
void fields(Walk& walk, Event& event) {
  walk.text("request", event.request);
  walk.text("call", event.call);
  walk.some_text("key", event.key);
  walk.some_text("token", event.token);
}

template <class Walk, Of<ProgramStarted> Event>
void fields(Walk& walk, Event& event) {
  walk.number("pid", event.pid);
  walk.number("parent", event.parent);
  walk.text("program", event.program);
  walk.texts("arguments", event.arguments);
  walk.text("directory", event.directory);
}

template <class Walk, Of<FileTouched> Event>
void fields(Walk& walk, Event& event) {
  walk.number("pid", event.pid);
  walk.text("command", event.command);
  walk.text("act", event.act);
  walk.text("path", event.path);
  walk.some_text("to", event.to);
}

template <class Walk, Of<ToolCalled> Event>
void fields(Walk& walk, Event& event) {
  walk.text("server", event.server);
  walk.text("tool", event.tool);
  walk.text("arguments_sha256", event.arguments);
  walk.text("rule", event.rule);
  walk.flag("approved", event.is_approved);
}

template <class Walk, Of<ResponseTaken> Event>
void fields(Walk& walk, Event& event) {
  walk.text("when", event.when);
  walk.number("reached", event.reached);
  walk.number("more_than", event.more_than);
  walk.number("within_seconds", event.within_seconds);
  walk.text("then", event.then);
  walk.text("rule", event.rule);
}

template <class Walk, Of<ConnectTried> Event>
void fields(Walk& walk, Event& event) {
  walk.number("pid", event.pid);
  walk.text("command", event.command);
  walk.text("address", event.address);
  walk.some_number("port", event.port, std::uint16_t{0});
  walk.some_text("error", event.error);
}

template <class Walk, Of<SandboxEnded> Event>
void fields(Walk& walk, Event& event) {
  auto& verdict = event.verdict;
  walk.choice("ending", verdict.ending, Ending::moved);
  walk.number("status", verdict.status);
  walk.number("limit", verdict.limit);
  walk.number("peak", verdict.peak);
  walk.some_text("culprit", verdict.culprit);
  walk.some_text("explanation", verdict.explanation);
}

template <class Walk, Of<LogRecovered> Event>
void fields(Walk& walk, Event& event) {
  walk.number("bytes", event.bytes);
  walk.text("sha256", event.sha256);
}

template <class Walk, Of<RecordsLost> Event>
void fields(Walk& walk, Event& event) {
  walk.text("source", event.source);
  walk.number("count", event.count);
  walk.text("why", event.why);
}

template <class Walk, Of<RecordsDropped> Event>
void fields(Walk& walk, Event& event) {
  walk.number("end", event.end);
}

template <class Walk, Of<PolicyReleased> Event>
void fields(Walk& walk, Event& event) {
  walk.number("number", event.number);
  walk.some_text("sha256", event.sha256);
}

}  // namespace cordon::audit
