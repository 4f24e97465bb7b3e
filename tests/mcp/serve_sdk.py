# SPDX-License-Identifier: Apache-2.0
"""The MCP packages from npm, unmodified, against `cordon mcp serve`, in both eras, over pipes and over HTTP."""
import pathlib
import shutil
import socket
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "callers"))
sys.dont_write_bytecode = True

from caller import survivors  # noqa: E402
from check import Skip, equal, expect, main  # noqa: E402
from pace import slow  # noqa: E402

SDK = HERE.parent / "sdk"


def packages(caller):
    node = shutil.which("node")
    if not node or not (SDK / "node_modules/@modelcontextprotocol/client").exists():
        raise Skip("needs node, and `npm ci` in tests/sdk")
    data = caller.directory("data")
    (data / "file").write_text("wanted\n")
    # Where the caller can read them: a checkout may lie where an ordinary user cannot look.
    tests = caller.base / "sdk"
    tests.mkdir()
    shutil.copy(SDK / "mcp/checks.mjs", tests)
    shutil.copytree(SDK / "node_modules", tests / "node_modules", symlinks=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    done = subprocess.run([*caller.become(), node, str(tests / "checks.mjs"), str(caller.programs / "cordon"), str(caller.workspace), str(port)],
                          env=caller.environment(), cwd=caller.workspace, capture_output=True, text=True, timeout=slow(170))
    print(done.stdout, end="")
    expect(done.returncode == 0, done.stderr[-4000:])
    equal(survivors(3), [])


if __name__ == "__main__":
    main({"packages": packages})
