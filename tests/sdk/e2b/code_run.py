# SPDX-License-Identifier: Apache-2.0
"""The code interpreter's package from npm, unmodified, against a real node: `code_run.py PROGRAMS [NAME...]`. 77: needs root, the packages, IPython and
matplotlib."""
import base64
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "cordond"))
sys.dont_write_bytecode = True

from daemon import Daemon  # noqa: E402
from examples import run_example  # noqa: E402
from interpreters import TOOLS, add_interpreters, are_there  # noqa: E402


def main():
    if os.geteuid() != 0 or not (HERE.parent / "node_modules/@e2b/code-interpreter").exists() or not are_there():
        print("skipped: needs root, `npm ci` in tests/sdk, python3-ipython, python3-matplotlib and node")
        sys.exit(77)
    with Daemon(sys.argv[1], settings="", tools=TOOLS) as node:
        add_interpreters(node)
        port = node.serve_tcp()
        with node.client(tenant="a") as client:
            key = client.ask("POST", "/v1/keys", {}).json["e2b_key"]
        where = f"http://127.0.0.1:{port}"
        environment = {**os.environ, "E2B_API_URL": where, "E2B_SANDBOX_URL": where, "E2B_API_KEY": key, "CORDON_TEST_CALLED": str(node.base / "called")}
        done = subprocess.run(["node", HERE / "code_checks.mjs", *sys.argv[2:]], env=environment, timeout=240)
        if done.returncode:
            print(node.log("cordond")[-3000:])
        elif len(sys.argv) == 2:
            number, picture = run_example(node, "code.mjs", environment).split()
            assert number == "2" and base64.b64decode(picture).startswith(b"\x89PNG"), picture[:100]
            done = subprocess.run(["node", HERE / "methods.mjs", "@e2b/code-interpreter", node.base / "called"])
        sys.exit(done.returncode)


main()
