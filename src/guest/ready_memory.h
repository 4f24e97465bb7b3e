// SPDX-License-Identifier: Apache-2.0
// Before a process waits for what it will then do in a hurry.
#pragma once

namespace cordon::guest {

// All that the caller has mapped is there, and its own, and a little of the heap is spare: what it
// does next waits for no page. For a process of a machine that will be saved, whose kernel's way to
// a page would be translated again in each that begins as it. Where it cannot be done nothing is
// lost.
void ready_memory();

}  // namespace cordon::guest
