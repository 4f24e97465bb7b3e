# SPDX-License-Identifier: Apache-2.0
# needs: sh
mkfifo f
(echo a >f) &
read -r x <f
test "$x" = a
ls -la | sort | wc -l >n
mv n m
cp -a m k
ln -s k l
test -s l
rm m k l
kill -0 $$
echo done
