// SPDX-License-Identifier: Apache-2.0
// Places at which a test has a program killed, by name: what a death there leaves must be what the
// next start can go on from.
#pragma once

namespace cordon::os {

// The variable CORDON_FAULT, "NAME FILE": the first that comes to the place of that name, of all
// programs that have the variable, and that can remove the file, dies there as of kill -9. Whoever
// sets a program's variables could kill it anyway. Called once, before any thread starts; nullptr:
// nobody dies.
void arm_fault_point(const char* variable) noexcept;

// Names are "PROGRAM.ACT.PLACE". tests/cordond/faults.py finds them in the sources.
void fault_point(const char* name) noexcept;

}  // namespace cordon::os
