// SPDX-License-Identifier: Apache-2.0
// A system call by its number, by every door that the processor has.
#pragma once

#include "draw.h"

namespace chaos {

// Not libc's: a call may have taken thread-local memory away, errno with it.
#if defined(__x86_64__)
inline long make(const Call& call) {
  long result = 0;
  const register unsigned long fourth asm("r10") = call.words[3];
  const register unsigned long fifth asm("r8") = call.words[4];
  const register unsigned long sixth asm("r9") = call.words[5];
  asm volatile("syscall"
               : "=a"(result)
               : "a"(call.number), "D"(call.words[0]), "S"(call.words[1]), "d"(call.words[2]),
                 "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
}
// By the door of 32-bit programs.
inline void make_foreign(const Call& call) {
  long result = 0;
  asm volatile("int $0x80"
               : "=a"(result)
               : "a"(call.number), "b"(call.words[0]), "c"(call.words[1]), "d"(call.words[2])
               : "memory");
}
inline constexpr long kOtherAbi = 0x40000000;  // x32
#else
inline long make(const Call& call) {
  const register long number asm("x8") = call.number;
  register unsigned long first asm("x0") = call.words[0];
  const register unsigned long second asm("x1") = call.words[1];
  const register unsigned long third asm("x2") = call.words[2];
  const register unsigned long fourth asm("x3") = call.words[3];
  const register unsigned long fifth asm("x4") = call.words[4];
  const register unsigned long sixth asm("x5") = call.words[5];
  asm volatile("svc 0"
               : "+r"(first)
               : "r"(number), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
               : "memory");
  return static_cast<long>(first);
}
inline void make_foreign(const Call&) {}
inline constexpr long kOtherAbi = 0;
#endif

}  // namespace chaos
