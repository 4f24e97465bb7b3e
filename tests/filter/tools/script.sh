# SPDX-License-Identifier: Apache-2.0
# needs: script
script -qec 'tty; stty -a' out >/dev/null </dev/null
grep -q /dev/pts out
echo done
