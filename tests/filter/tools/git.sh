# SPDX-License-Identifier: Apache-2.0
# needs: git
export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1
git -c init.defaultBranch=main init -q r
cd r
git config user.name name
git config user.email name@example.org
echo a >a
git add a
git commit -qm first
cd ..
git clone -q r c
cd c
git log --oneline | grep -q first
git gc -q
git fsck --no-progress
git status --short
echo done
