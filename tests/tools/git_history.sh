# SPDX-License-Identifier: Apache-2.0
# needs: git
# As an agent works: the home of the sandbox, a branch, a merge, a worktree, and a clone by URL.
git config --global user.name name
git config --global user.email name@example.org
git -c init.defaultBranch=main init -q r
cd r
echo a >a && git add a && git commit -qm first
git checkout -qb side
echo b >b && git add b && git commit -qm second
git checkout -q main
git merge -q --no-ff -m merge side
git worktree add -q ../w side
test -f ../w/b
git stash list
cd ..
git clone -q "file://$PWD/r" c
test "$(git -C c rev-list --count HEAD)" = 3
rm -rf r/.git/worktrees w
echo done
