# SPDX-License-Identifier: Apache-2.0
# needs: gcc
printf '#include <stdio.h>\nint main(void){puts("made");}' >a.c
gcc -O2 -pipe -o a a.c
test "$(./a)" = made
echo done
