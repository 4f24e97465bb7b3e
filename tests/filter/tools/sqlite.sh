# SPDX-License-Identifier: Apache-2.0
# needs: sqlite3
sqlite3 d.db 'pragma journal_mode=wal; create table t(x); insert into t values(1),(2);' >/dev/null
test "$(sqlite3 d.db 'select sum(x) from t')" = 3
echo done
