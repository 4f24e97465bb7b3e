# SPDX-License-Identifier: Apache-2.0
# needs: python3
python3 -m venv v
v/bin/python -c 'import sqlite3, ssl, sys
assert sys.prefix != sys.base_prefix'
v/bin/python -m pip --version
echo done
