# SPDX-License-Identifier: Apache-2.0
# needs: cmake
printf 'cmake_minimum_required(VERSION 3.20)\nproject(x C)\nadd_executable(x x.c)\n' >CMakeLists.txt
printf '#include <stdio.h>\nint main(void){puts("made");}' >x.c
cmake -S . -B b >/dev/null
cmake --build b >/dev/null
test "$(b/x)" = made
echo done
