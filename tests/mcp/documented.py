# SPDX-License-Identifier: Apache-2.0
"""The lines of docs/mcp.md that a reader types, and the configuration that it shows, with the packages from npm where they need them."""
import json
import os
import pathlib
import re
import shlex
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "callers"))
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from check import equal, expect, main  # noqa: E402
from link import Link  # noqa: E402
from wrap_sdk import packages  # noqa: E402

SERVER = "npx -y @modelcontextprotocol/server-filesystem ."
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def blocks():
    return FENCED.findall((ROOT / "docs/mcp.md").read_text())


def typed():
    """Each line of each block, as words; what is left to the reader (COMMAND, DIR) is none."""
    for language, text in blocks():
        for line in text.splitlines() if language in ("", "sh") else ():
            words = shlex.split(line, comments=True)
            if words and not any(re.fullmatch(r"[A-Z]+", word) for word in words):
                yield words


def serves(caller, words):
    """A command line of a client's configuration starts our server."""
    expect(words[:3] == ["cordon", "mcp", "serve"], words)
    with Link(caller, command=[str(caller.programs / "cordon"), *words[1:3], *caller.wall(), *words[3:]], wrapped=False) as link:
        expect("run" in link.tools(), words)
    equal(link.end(), 0, words, link.err)


def install_lines(caller):
    """Of Claude Code, of Codex and of Cursor: each command line starts a server."""
    clients = set()
    for words in typed():
        if words[:3] in (["claude", "mcp", "add"], ["codex", "mcp", "add"]):
            clients.add(words[0])
            serves(caller, words[words.index("--") + 1:])
    for language, text in blocks():
        if language == "json":
            clients.add("json")
            for server in json.loads(text)["mcpServers"].values():
                serves(caller, [server["command"], *server["args"]])
    equal(clients, {"claude", "codex", "json"})


def wrap_lines(caller):
    """Both ways to say what the reference server may do, and what comes of them."""
    own = packages(caller)
    (caller.workspace / "a.txt").write_text("read")
    shutil.copy(ROOT / "examples/files-server.toml", caller.home)
    found = 0
    for words in typed():
        line = shlex.join(words)
        if words[:3] != ["cordon", "mcp", "wrap"] or SERVER not in line:
            continue
        found += 1
        flags = shlex.split(line[:line.index(" -- ")].replace("files-server.toml", str(caller.home / "files-server.toml")))[3:]
        server = ["node", str(own / "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"), str(caller.workspace)]
        with Link(caller, ["--live", "--allow-read", str(own), *flags], command=server, name="filesystem", capabilities='{"elicitation":{}}') as link:
            tools = link.tools()
            expect({"read_text_file", "write_file"} <= set(tools) and "move_file" not in tools, line, tools)
            equal(link.text("read_text_file", path=str(caller.workspace / "a.txt")), "read", line)
            equal(link.text("move_file", source="a.txt", destination="b.txt"), "CORDON-TOOL-DENIED", line)
            for decision, there in (("deny", False), ("allow once", True)):
                arguments = {"path": str(caller.workspace / f"{found}-{decision}"), "content": "x"}
                link.say(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "write_file", "arguments": arguments}}))
                question = json.loads(link.hear())
                equal(question["method"], "elicitation/create", line)
                link.say(json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"decision": decision}}}))
                link.hear()
                equal((caller.workspace / f"{found}-{decision}").exists(), there, line)
    equal(found, 2)


def import_line(caller):
    words, = [words for words in typed() if "--import" in words]
    file = caller.home / ".claude.json"
    file.write_text(json.dumps({"mcpServers": {"files": {"command": "npx", "args": SERVER.split()[1:]}}}))
    os.chown(file, caller.uid, caller.uid)
    equal(words[-1], "~/.claude.json")
    done = caller.verb(*words[1:-1], str(file))
    equal(done.returncode, 0, done.stderr)
    args = json.loads(file.read_text())["mcpServers"]["files"]["args"]
    equal((args[:2], args[-4:]), (["mcp", "wrap"], SERVER.split()), args)


if __name__ == "__main__":
    main({act.__name__: act for act in (install_lines, wrap_lines, import_line)})
