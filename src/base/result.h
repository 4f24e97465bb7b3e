// SPDX-License-Identifier: Apache-2.0
// One way to fail: Result<T> holds a value or an Error; TRY declares a variable or leaves.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace cordon {

// Chosen by what the caller can do about it, not by what went wrong below.
enum class Errc : std::uint8_t {
  invalid,      // the input is wrong: mend it and call again
  denied,       // a rule or the kernel refuses: ask for the right
  not_found,    // the thing named does not exist
  exists,       // the thing named exists already
  exhausted,    // a limit is reached: free something first
  timeout,      // it took too long: try again, perhaps later
  unavailable,  // this host, or a peer, cannot do it
  unrecorded,   // the audit log does not take it, so it was not done: mend the log
  internal,     // a defect of ours
};

std::string_view to_string(Errc code) noexcept;

// What failed, for a program (`code`, `cause`) and for a person (`text`, which grows outward:
// "run 7f3a: mount /src: open_tree: Operation not permitted").
class [[nodiscard]] Error {
 public:
  Error(Errc code, std::string what) : code_{code}, text_{std::move(what)} {}

  // The failure of the system call `call`; `err` is its errno.
  static Error from_errno(std::string_view call, int err);
  // The same with the errno of the call that has just failed.
  static Error from_errno(std::string_view call);

  // Says what was being done when the error came up.
  Error&& with(std::string_view doing) && {
    text_.insert(0, ": ").insert(0, doing);
    return std::move(*this);
  }

  Errc code() const noexcept { return code_; }
  // The errno underneath, or no error when there was none.
  std::error_code cause() const noexcept { return cause_; }
  const std::string& text() const noexcept { return text_; }

 private:
  Errc code_;
  std::error_code cause_;
  std::string text_;
};

// A value or an Error. Unlike std::expected it may not be dropped silently, and an Error converts
// to it.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : held_{std::move(value)} {}
  Result(Error error) : held_{std::unexpect, std::move(error)} {}

  explicit operator bool() const noexcept { return held_.has_value(); }
  bool has_value() const noexcept { return held_.has_value(); }

  // Before each of these: has_value() was asked and gave the matching answer.
  T& operator*() & { return *held_; }
  const T& operator*() const& { return *held_; }
  T&& operator*() && { return *std::move(held_); }
  T* operator->() { return &*held_; }
  const T* operator->() const { return &*held_; }
  Error& error() & { return held_.error(); }
  const Error& error() const& { return held_.error(); }
  Error&& error() && { return std::move(held_).error(); }

 private:
  std::expected<T, Error> held_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : held_{std::unexpect, std::move(error)} {}

  explicit operator bool() const noexcept { return held_.has_value(); }
  bool has_value() const noexcept { return held_.has_value(); }
  void operator*() const noexcept {}
  Error& error() & { return held_.error(); }
  const Error& error() const& { return held_.error(); }
  Error&& error() && { return std::move(held_).error(); }

 private:
  std::expected<void, Error> held_;
};

using Status = Result<void>;

}  // namespace cordon

// Each is a whole statement inside braces. The declaration stands inside the macro because a
// statement expression, which `auto x = TRY(f())` would need, must not contain co_await.
#define CORDON_CAT_(a, b) a##b
#define CORDON_CAT(a, b) CORDON_CAT_(a, b)
#define CORDON_TRY(leave, tmp, decl, ...)   \
  auto tmp = (__VA_ARGS__);                 \
  if (!(tmp)) leave std::move(tmp).error(); \
  decl = *std::move(tmp)
#define TRY(decl, ...) CORDON_TRY(return, CORDON_CAT(try_, __LINE__), decl, __VA_ARGS__)
#define CO_TRY(decl, ...) CORDON_TRY(co_return, CORDON_CAT(try_, __LINE__), decl, __VA_ARGS__)
#define TRY_DO(...) \
  if (auto done_ = (__VA_ARGS__); !done_) return std::move(done_).error()
#define CO_TRY_DO(...) \
  if (auto done_ = (__VA_ARGS__); !done_) co_return std::move(done_).error()
