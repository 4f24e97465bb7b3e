// SPDX-License-Identifier: Apache-2.0
// Which fence element a mutated program lacks. The name stands in the program's own file, where the
// driver writes it: no variable, flag or descriptor could bring it into a program that is shipped.
#pragma once

#include <string_view>

namespace cordon::mutation {

// Empty: none, the program is as it was built.
std::string_view chosen();

// True if `name` is the chosen one. Where "list" is chosen, the launcher writes each
// name that it asks about into the file `told` beside itself.
bool lacks(std::string_view name);

}  // namespace cordon::mutation
