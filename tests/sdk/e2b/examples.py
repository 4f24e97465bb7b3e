# SPDX-License-Identifier: Apache-2.0
"""Runs a program of examples/e2b, which docs/e2b.md shows as it is."""
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def run_example(node, name, environment):
    """What it says. It finds the packages as it would where they are installed."""
    program = ROOT / "examples/e2b" / name
    shown = program.read_text().split("\n", 2)[2]
    if f"```js\n{shown}```" not in (ROOT / "docs/e2b.md").read_text():
        raise AssertionError(f"docs/e2b.md shows another text than examples/e2b/{name}")
    place = node.base / "example"
    place.mkdir()
    shutil.copy(program, place)
    (place / "node_modules").symlink_to(HERE.parent / "node_modules")
    done = subprocess.run(["node", place / name], env=environment, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise AssertionError(done.stderr)
    print(f"pass  examples/e2b/{name}")
    return done.stdout
