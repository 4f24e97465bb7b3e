# SPDX-License-Identifier: Apache-2.0
"""Templates that the E2B package from npm, unmodified, builds on a real node: `template_run.py PROGRAMS [NAME...]`. 77: needs root, or the packages are not
installed."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "cordond"))
sys.dont_write_bytecode = True

from daemon import PROGRAMS, Daemon  # noqa: E402
from service import make_root  # noqa: E402

# What steps of a build are made of, beside what each image of the tests has.
TOOLS = tuple(f"/usr/bin/{name}" for name in ("bash", "chmod", "chown", "cp", "dirname", "rm", "stat", "tar", "touch", "find", "mv", "test", "tee"))


# Programs that want a network, or are E2B's own: here they write down how they were called.
STAND_INS = ("apt-get", "pip", "npm", "bun", "git", "mcp-gateway", "devcontainer")
# What the names of others' images are called here.
IMAGES = ("tools", "debian-stable", "ubuntu", "fedora-44", "alpine-3.24", "archlinux", "python-3", "node-lts", "oven-bun")


def make_store(programs, place):
    """A store with one image by several names, as an operator would have imported it."""
    tree = place / "tree"
    make_root(tree, PROGRAMS + TOOLS)
    for name in STAND_INS:
        (tree / "usr/bin" / name).write_text(f'#!/bin/sh\necho "{name} $*" >>/opt/calls\n')
        (tree / "usr/bin" / name).chmod(0o755)
    (tree / "usr/bin/sudo").write_text('#!/bin/sh\nexec "$@"\n')
    (tree / "usr/bin/sudo").chmod(0o755)
    (tree / "prepare-exec.sh").write_text("#!/bin/sh\necho echo inside\n")
    (tree / "prepare-exec.sh").chmod(0o755)
    (tree / "opt").mkdir(exist_ok=True)
    (tree / "opt/calls").touch()
    (tree / "opt/calls").chmod(0o666)
    store = place / "store"
    for name in IMAGES:
        subprocess.run([programs / "cordon", "image", "import", tree, "--name", name, "--store", store], check=True, capture_output=True)
    shutil.rmtree(tree)
    return store


def checked(node, store, words):
    port = node.serve_tcp()
    keys = {}
    for tenant in ("a", "b"):
        with node.client(tenant=tenant) as client:
            keys[tenant] = client.ask("POST", "/v1/keys", {}).json["e2b_key"]
    where = f"http://127.0.0.1:{port}"
    environment = {**os.environ, "E2B_API_URL": where, "E2B_SANDBOX_URL": where, "E2B_API_KEY": keys["a"], "CORDON_TEST_OTHER_KEY": keys["b"],
                   "CORDON_TEST_STORE": str(store), "CORDON_TEST_CALLED": str(node.base / "called")}
    done = subprocess.run(["node", HERE / "template_checks.mjs", *words], env=environment, timeout=240, cwd=HERE)
    if done.returncode:
        print(node.log("cordond")[-3000:], node.log("launcher")[-3000:])
    if done.returncode or words:
        return done.returncode
    return subprocess.run(["node", HERE / "methods.mjs", "e2b", node.base / "called", "templates"]).returncode


def main():
    if os.geteuid() != 0 or not (HERE.parent / "node_modules/e2b").exists():
        print("skipped: needs root, and `npm ci` in tests/sdk")
        sys.exit(77)
    programs = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="cordon-templates-", dir="/var/tmp") as name:
        place = pathlib.Path(name)
        place.chmod(0o755)
        store = make_store(programs, place)
        with Daemon(programs, settings=f'image_store = "{store}"', floor=f"source = {store}/roots\nimage_store = {store}\n", tools=TOOLS) as node:
            node.config.write_text(node.config.read_text() + "[templates]\nmost = 8\nmemory = \"512Mi\"\ndisk = \"256Mi\"\n")
            sys.exit(checked(node, store, sys.argv[2:]))


main()
