# SPDX-License-Identifier: Apache-2.0
"""The MCP packages from npm, unmodified, through `cordon mcp wrap`: both SDKs in both eras, and a reference server."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "callers"))
sys.dont_write_bytecode = True

from check import Skip, equal, expect, main  # noqa: E402
from pace import slow  # noqa: E402

PACKAGES = HERE.parent / "sdk/node_modules"
SCRIPT = [["list"], ["add", {"a": 1, "b": 2}], ["note", {"text": "h\u00e9 \u2028"}]]


def packages(caller):
    """Where the caller, and a sandbox of it, can read them."""
    if not (PACKAGES / "@modelcontextprotocol/client").exists():
        raise Skip("`npm ci` in tests/sdk")
    own = caller.base / "sdk"
    if not own.exists():
        own.mkdir(mode=0o755)
        for name in ("clients.mjs", "servers.mjs"):
            shutil.copy(HERE / name, own / name)
        shutil.copytree(PACKAGES, own / "node_modules", symlinks=True)
    return own


def drive(caller, client, script, server, flags=None, says=None):
    """What a client of an SDK sees; `flags`: wrapped with these, else not."""
    own = packages(caller)
    command = server if flags is None else caller.words("mcp", "wrap", "--name", "x", *caller.wall(), "--allow-read", str(own), *flags, "--", *server)
    if flags is None:
        command = [*caller.become(), *server]
    environment = {**caller.environment(), **({"CLIENT_SAYS": json.dumps(says)} if says else {})}
    done = subprocess.run(["node", own / "clients.mjs", client, json.dumps(script), "--", *map(str, command)], cwd=caller.workspace, env=environment,
                          capture_output=True, timeout=slow(60))
    expect(done.returncode == 0, client, server, done.stdout, done.stderr.decode())
    first, *rest = [json.loads(line) for line in done.stdout.decode().split("\n") if line]
    return first, [each["result"] for each in rest], [each["asked"] for each in rest]


PAIRS = (("v1", "v1", "2025-11-25"), ("v1", "v2", "2025-11-25"), ("v2-legacy", "v1", "2025-11-25"), ("v2", "v1", "2025-11-25"),
         ("v2-legacy", "v2", "2025-11-25"), ("v2", "v2", "2026-07-28"))


def eras(caller):
    """Each client with each server: wrapped, it sees what it sees without."""
    for client, server, version in PAIRS:
        words = ["node", packages(caller) / "servers.mjs", server]
        bare = drive(caller, client, SCRIPT, words)
        wrapped = drive(caller, client, SCRIPT, words, ["--allow-tool", "*"])
        equal(wrapped, bare, client, server)
        expect(bare[0]["version"] in (version, None), bare[0], client, server)
        equal(wrapped[1][1]["content"][0]["text"], "3")


def rules(caller):
    """A refused call is a result that each SDK takes, and tools that may not be called are not shown."""
    for client, server, _ in PAIRS:
        words = ["node", packages(caller) / "servers.mjs", server]
        _, results, _ = drive(caller, client, SCRIPT, words, ["--allow-tool", "add"])
        equal(results[0], ["add"])
        equal(results[1]["content"][0]["text"], "3")
        expect(results[2]["isError"] and "CORDON-TOOL-DENIED" in results[2]["content"][0]["text"], results[2])


def asks(caller):
    """A person is asked through each client, in the way of its era; what is approved goes to the server once."""
    for client, server, version in PAIRS:
        words = ["node", packages(caller) / "servers.mjs", server]
        script = [["note", {"text": "a"}], ["note", {"text": "b"}]]
        _, results, asked = drive(caller, client, script, words, ["--ask-tool", "note"], {"decision": "allow once"})
        equal([each["content"][0]["text"] for each in results], ["noted a", "noted b"], client, server)
        expect(all(len(each) == 1 and "x/note" in each[0] for each in asked), asked)
        _, results, _ = drive(caller, client, script[:1], words, ["--ask-tool", "note"], {"decision": "deny"})
        expect("CORDON-TOOL-DECLINED" in results[0]["content"][0]["text"], results)
        _, results, _ = drive(caller, client, script[:1], words, ["--ask-tool", "note"])
        expect("CORDON-TOOL-ASK" in results[0]["content"][0]["text"], results)


def server_asks(caller):
    """C279 in the modern era: a server's own question is refused, or let."""
    words = ["node", packages(caller) / "servers.mjs", "v2"]
    _, results, asked = drive(caller, "v2", [["confirm", {}]], words, ["--allow-tool", "*"], {"sure": True})
    expect("CORDON-MCP-REQUEST" in results[0]["content"][0]["text"] and asked == [[]], results, asked)
    let = ["--let", "elicitation/create"]
    _, results, asked = drive(caller, "v2", [["confirm", {}]], words, ["--allow-tool", "*", *let], {"sure": True})
    equal((results[0]["content"][0]["text"], asked), ("sure true", [["Sure?"]]))
    # Asked about and asking: the approval holds for the round that follows.
    _, results, asked = drive(caller, "v2", [["confirm", {}]], words, ["--ask-tool", "confirm", *let], {"sure": True, "decision": "allow once"})
    equal((results[0]["content"][0]["text"], len(asked[0])), ("sure true", 2), results, asked)


def reference(caller):
    """C268, C269: the reference server of files works wrapped, reads nothing but what it is granted, and its tools obey."""
    server = ["node", packages(caller) / "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"]
    granted, other = caller.directory("granted"), caller.directory("granted_evil")
    (granted / "a.txt").write_text("inside")
    (other / "b.txt").write_text("secret")
    (caller.workspace / "w.txt").write_text("work")
    (caller.workspace / "link").symlink_to(other / "b.txt")
    # It is told more than it is granted: what holds is the sandbox.
    command = [*server, str(caller.workspace), str(granted), str(other)]
    script = [["list"], ["read_text_file", {"path": str(granted / "a.txt")}], ["read_text_file", {"path": str(other / "b.txt")}],
              ["read_text_file", {"path": str(caller.workspace / "link")}], ["write_file", {"path": str(caller.workspace / "n.txt"), "content": "n"}],
              ["read_text_file", {"path": str(caller.workspace / "w.txt")}]]
    flags = ["--allow-read", str(granted), "--allow-tool", "read_*", "--allow-tool", "list_*"]
    _, results, _ = drive(caller, "v1", script, command, flags)
    expect("read_text_file" in results[0] and "write_file" not in results[0], results[0])
    texts = [result.get("content", [{}])[0].get("text", "") for result in results[1:]]
    equal((texts[0], texts[4]), ("inside", "work"), texts)
    expect("secret" not in json.dumps(results), texts)
    expect("CORDON-TOOL-DENIED" in texts[3] and not (caller.workspace / "n.txt").exists(), texts)
    # The counter-arms: granted, it reads; allowed, it writes.
    flags = ["--allow-read", str(granted), "--allow-read", str(other), "--allow-tool", "*"]
    _, results, _ = drive(caller, "v1", script, command, flags)
    equal([result["content"][0]["text"] for result in results[1:4]], ["inside", "secret", "secret"])
    equal((caller.workspace / "n.txt").read_text(), "n")


CHECKS = {act.__name__: act for act in (eras, rules, asks, server_asks, reference)}
if __name__ == "__main__":
    main(CHECKS)
