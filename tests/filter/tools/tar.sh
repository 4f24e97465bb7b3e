# SPDX-License-Identifier: Apache-2.0
# needs: tar
mkdir d e
echo a >d/a
ln d/a d/b
ln -s a d/c
chmod 640 d/a
mkfifo d/p
tar --xattrs -czf d.tgz d
tar -xpzf d.tgz -C e
test "$(cat e/d/c)" = a
test -p e/d/p
echo done
