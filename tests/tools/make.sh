# SPDX-License-Identifier: Apache-2.0
# needs: make
printf 'all: a b\n\techo $^ >all\na b:\n\tprintf $@ >$@\n' >Makefile
make -s -j4
test "$(cat all)" = "a b"
test "$(cat a b)" = ab
echo done
