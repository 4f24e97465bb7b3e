# SPDX-License-Identifier: Apache-2.0
"""The E2B packages from npm, unmodified, against a real node: `run.py PROGRAMS [NAME...]`. 77: needs root, or the packages are not installed."""
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "cordond"))
sys.dont_write_bytecode = True

from daemon import Daemon  # noqa: E402
from examples import run_example  # noqa: E402
from ports import PYTHON, add_python  # noqa: E402

TOOLS = tuple(f"/usr/bin/{name}" for name in ("bash", "cat", "id", "stty", "wc", "yes", "head", "ln", "sleep", "git", PYTHON.name))


def add_git(node):
    """What git starts of its own. Its helpers for other protocols need libraries that the image does not have."""
    own = node.root / "usr/lib/git-core"
    own.mkdir()
    shutil.copy("/usr/bin/git", own / "git")
    for name in ("git-upload-pack", "git-receive-pack", "git-credential-store"):
        (own / name).symlink_to("git")


def main():
    if os.geteuid() != 0 or not (HERE.parent / "node_modules/e2b").exists():
        print("skipped: needs root, and `npm ci` in tests/sdk")
        sys.exit(77)
    quota = "[quota]\nsandboxes = 200\ncreates_per_second = 1000\nrequests = 2000\n[tenants.slow]\ncreates_per_second = 1\n"
    with Daemon(sys.argv[1], settings="", tools=TOOLS) as node:
        node.config.write_text(node.config.read_text() + quota)
        add_python(node)
        add_git(node)
        port = node.serve_tcp()
        with node.client(tenant="a") as client:
            key = client.ask("POST", "/v1/keys", {}).json["e2b_key"]
        with node.client(tenant="slow") as client:
            slow_key = client.ask("POST", "/v1/keys", {}).json["e2b_key"]
        where = f"http://127.0.0.1:{port}"
        environment = {**os.environ, "E2B_API_URL": where, "E2B_SANDBOX_URL": where, "E2B_API_KEY": key, "CORDON_TEST_SLOW_KEY": slow_key,
                       "CORDON_TEST_PYTHON": f"/usr/bin/{PYTHON.name}", "CORDON_TEST_CALLED": str(node.base / "called")}
        done = subprocess.run(["node", HERE / "checks.mjs", *sys.argv[2:]], env=environment, timeout=240)
        if done.returncode:
            print(node.log("cordond")[-3000:])
        elif len(sys.argv) == 2:
            assert run_example(node, "sandbox.mjs", environment) == "1\n/home/user\n\n"
            done = subprocess.run(["node", HERE / "methods.mjs", "e2b", node.base / "called"])
        sys.exit(done.returncode)


main()
