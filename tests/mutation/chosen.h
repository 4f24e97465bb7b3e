// SPDX-License-Identifier: Apache-2.0
// Which fence element a mutated program lacks. The name stands in the program's own file, where the
// driver writes it: no variable, flag or descriptor could bring it into a program that is shipped.
#pragma once

#include <string_view>

namespace cordon::mutation {

// True if `name` is among the chosen ones, which stand in the file as name|name; none: the program
// is as it was built. More than one: an element that shows only where the fence before it is off.
bool chose(std::string_view name);

// What follows `prefix` in the chosen name that begins with it; empty where none does.
std::string_view chosen_after(std::string_view prefix);

// chose(name). Where "list" is chosen, the launcher writes each name that it asks about into the
// file `told` beside itself.
bool lacks(std::string_view name);

}  // namespace cordon::mutation
