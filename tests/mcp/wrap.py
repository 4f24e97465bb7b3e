# SPDX-License-Identifier: Apache-2.0
"""`cordon mcp wrap` with a server that is hostile, as root and as an ordinary user (group T of the matrix)."""
import json
import os
import pathlib
import random
import socket
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "callers"))
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from caller import descendants, name_of, survivors  # noqa: E402
from check import equal, expect, main  # noqa: E402
from link import HOSTILE, INITIALIZE, Link  # noqa: E402
from pace import slow  # noqa: E402

RULES = """version = 1
[filesystem]
mode = "read_write"
[tools.x]
allow = ["echo", "read_*", "act"]
deny = ["write_*"]
[[tools.x.rules]]
tool = "read_file"
effect = "allow"
arguments = { type = "object", properties = { path = { enum = ["a", "b"] } }, required = ["path"], additionalProperties = false }
calls_per_minute = 3
"""


def policy(caller, text=RULES):
    path = caller.home / "policy.toml"
    path.write_text(text)
    path.chmod(0o644)
    return ["--policy", str(path)]


def records(caller, event):
    done = caller.verb("audit", "export", f"event={event}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def transcript(caller):
    """Allowed traffic is byte for byte what it is without Cordon."""
    lines = [INITIALIZE % "{}", '{"jsonrpc":"2.0","method":"notifications/initialized"}', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
             ' {"id" : "a\\u0062" , "jsonrpc":"2.0","method":"tools\\/call","params":{"arguments":{"\\u00e9":"\U0001f600","n":[1,2.50,-0.0,1e3]},"name":"echo"}} ',
             '{"jsonrpc":"2.0","id":3,"method":"ping"}', '{"jsonrpc":"2.0","id":4,"method":"resources/list"}',
             '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"act","arguments":{"what":"long","bytes":500000}}}']
    heard = []
    for wrapped in (False, True):
        link = Link(caller, wrapped=wrapped)
        for line in lines:
            link.say(line)
            if '"id"' in line:
                link.hear()
        equal(link.end(), 0, link.err)
        heard.append(b"".join(link.heard))
    expect(len(heard[0]) > 500_000, len(heard[0]))
    expect(heard[0] == heard[1], "they differ:", heard[0][:600], heard[1][:600])


def tools_obey(caller):
    """allow, deny, conditions and rates; what is refused the server never sees (C268, C280), and each call is in the record."""
    with Link(caller, policy(caller)) as link:
        equal(link.tools(), ["read_file", "echo", "act"])
        equal(link.text("write_file", path="a"), "CORDON-TOOL-DENIED")
        for arguments in ({"path": "../a"}, {"path": "a", "more": 1}, {"path": ["a"]}, {}):
            equal(link.text("read_file", **arguments), "CORDON-TOOL-DENIED", arguments)
        equal([link.text("read_file", path="a") for _ in range(4)], ["read_file"] * 3 + ["CORDON-TOOL-BUDGET"])
        seen = json.loads(link.text("echo", a=1))
        equal(seen, {"arguments": {"a": 1}, "seen": ["read_file"] * 3 + ["echo"]})
    denied = json.loads(link.report.read_text())["denials"]
    equal({denial["code"] for denial in denied}, {"CORDON-TOOL-DENIED", "CORDON-TOOL-BUDGET"}, denied)
    expect(any(denial["rule"].endswith("policy.toml:6") for denial in denied), denied)
    called = records(caller, "tool_called")
    equal([record["tool"] for record in called], ["read_file"] * 3 + ["echo"])
    expect(all(record["server"] == "x" and len(record["arguments_sha256"]) == 64 for record in called), called)
    equal(len(records(caller, "act_refused")), 6)
    # The counter-arm: no rule, no refusal.
    with Link(caller, policy(caller, RULES.partition("[tools.x]")[0] + '[tools.x]\nallow = ["*"]\n')) as link:
        equal(link.text("write_file", path="a"), "write_file")
        equal([link.text("read_file", path="../a") for _ in range(5)], ["read_file"] * 5)


PATHS = """version = 1
[filesystem]
mode = "read_write"
[tools.x]
[[tools.x.rules]]
tool = "read_file"
effect = "allow"
arguments = { type = "object", properties = { path = { type = "string", enum = ["docs/a", "docs/a.txt"] }, n = { type = "integer" } }, required = ["path"], additionalProperties = false }
"""
# What a schema of that kind is for; each is read by a server that is not wrapped.
TWISTED = ("../a", "docs/../../a", "/etc/passwd", "file:///etc/passwd", "http://169.254.169.254/", "http://127.0.0.1/", "-rf", "docs/a; id", "docs/$(id)", "docs/`id`", "docs/a|b",
           "docs/a\nb", "docs/a\u0000", "docs/%2e%2e%2fa", "docs/" + "a" * 300, "docs\\\\..\\\\a")


def arguments(caller):
    """C268: a corpus of arguments against a schema; the server hears of none of them, and of all where there is no schema."""
    bodies = [json.dumps({"path": path}) for path in TWISTED]
    bodies += ['{"path":"docs/a","more":1}', '{"path":["docs/a"]}', '{"path":{"x":"docs/a"}}', '{"path":null}', '{"path":1}', '{"path":"docs/a","n":1.5}', '{"path":"docs/a","n":"1"}', "{}"]
    unclear = ['{"path":"docs/a","n":NaN}', '{"path":"docs/a","n":1e999}', '{"path":"docs/a","path":"../a"}', '{"path":"docs/a","PATH":"../a"}', '{"path":' + "[" * 100 + "]" * 100 + "}"]

    def said(link, body):
        link.say('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":%s}}' % body)
        return link.hear().decode()
    with Link(caller, policy(caller, PATHS + '[[tools.x.rules]]\ntool = "echo"\neffect = "allow"\n')) as link:
        for body in bodies:
            heard = said(link, body)
            expect("CORDON-TOOL-DENIED" in heard, body, heard)
        for body in unclear:
            expect("error" in said(link, body), body)
        for body in ('{"path":"docs/a"}', '{"path":"docs/a.txt","n":1}'):
            expect('"text": "read_file"' in said(link, body), body)
        equal(json.loads(link.text("echo"))["seen"], ["read_file"] * 2 + ["echo"])
    with Link(caller, policy(caller, PATHS.partition("[tools.x]")[0] + '[tools.x]\nallow = ["*"]\n')) as link:
        for body in bodies:
            expect('"text": "read_file"' in said(link, body), body)
        for body in unclear:
            expect("error" in said(link, body), "a line that readers read differently passes nowhere", body)


def nobody_listed(caller):
    """Without [tools.NAME] no tool may be called, and the refusal says what to type."""
    with Link(caller, ()) as link:
        equal(link.tools(), [])
        answer = link.call("echo")["result"]
        expect(answer["isError"] and "--allow-tool echo" in answer["content"][0]["text"], answer)
    done = caller.run(policy(caller), ["true"])
    equal(done.code, 126, "cordon run does not hold rules of tools, and says so", done.err)


def lines(caller):
    """C277: lines that readers may read differently are refused, and the link goes on."""
    with Link(caller) as link:
        for line in (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', b"junk", b'{"jsonrpc":"2.0","id":1,"method":"ping"} x', b"\xff\xfe{}",
                     b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}',
                     b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","n\\u0061me":"act"}}',
                     b'{"jsonrpc":"2.0","id":null,"method":"ping"}', b'{"a":' * 100 + b"1" + b"}" * 100, b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"s":"\\ud800"}}'):
            link.say(line)
            answer = json.loads(link.hear())
            equal(answer["error"]["code"], -32600, line)
        link.say('{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}')    # a call that wants no answer
        equal(json.loads(link.text("echo"))["seen"], ["echo"])
        link.say(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"x" * (5 << 20) + b'"}}')
        expect("longer than" in json.loads(link.hear())["error"]["message"])
        equal(json.loads(link.text("echo"))["seen"], ["echo"] * 2)


def pieces(caller):
    """Lines that come byte by byte, cut inside of characters, or many in one piece: each is answered, under its own id."""
    call = '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\u00e4\u20ac\U0001d11e %d"}}}\n'
    with Link(caller) as link:
        for byte in (call % (1, 1)).encode():
            link.child.stdin.write(bytes([byte]))
            link.child.stdin.flush()
        expect("\u00e4\u20ac\U0001d11e 1" in json.loads(json.loads(link.hear())["result"]["content"][0]["text"])["arguments"]["text"])
        many = "".join(call % (number, number) for number in range(2, 102)).encode()
        for at in range(0, len(many), 4099):
            link.child.stdin.write(many[at:at + 4099])
            link.child.stdin.flush()
        answers = [json.loads(link.hear()) for _ in range(100)]
        equal(sorted(answer["id"] for answer in answers), list(range(2, 102)))
        for answer in answers:
            expect(json.loads(answer["result"]["content"][0]["text"])["arguments"]["text"].endswith(f" {answer['id']}"), answer)
        # The list is the same twice, but for its id.
        lists = []
        for number in (500, 501):
            link.say('{"jsonrpc":"2.0","id":%d,"method":"tools/list"}' % number)
            lists.append(link.hear().replace(str(number).encode(), b""))
        equal(lists[0], lists[1])


def server_talk(caller):
    """C276, C278: what a server says unasked, twice or at too great a length reaches nobody."""
    with Link(caller) as link:
        for what in ("junk", "stranger", "noise"):
            equal(link.text("act", what=what), "done", what)
        expect("refused" in link.call("act", what="twice")["error"]["message"])
        expect("longer than" in link.call("act", what="long", bytes=5 << 20)["error"]["message"])
        equal(link.text("act", what="x"), "done")
    equal(len([line for line in link.heard if b"hello" in line]), 0)
    expect(b"\x1b[2J" not in link.err and b"gone" in link.err and "\u202e".encode() not in link.err, link.err)
    with Link(caller, ("--allow-tool", "*", "--max-line", str(8 << 20))) as link:
        equal(len(link.text("act", what="long", bytes=5 << 20)), 5 << 20)


def server_asks(caller):
    """C279: sampling, roots and elicitation are refused unless they are let."""
    for method in ("sampling/createMessage", "roots/list", "elicitation/create"):
        with Link(caller) as link:
            answer = json.loads(link.text("act", what="ask", method=method))
            equal((answer["id"], answer["error"]["code"]), ("s1", -32601), answer)
        with Link(caller, ("--allow-tool", "*", "--let", method)) as link:
            link.say(json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "act", "arguments": {"what": "ask", "method": method}}}))
            equal(json.loads(link.hear())["method"], method)
            link.say('{"jsonrpc":"2.0","id":"s1","result":{"mine":1}}')
            expect("mine" in json.loads(link.hear())["result"]["content"][0]["text"])


def pins(caller):
    """C265, C282: a tool that changed is neither shown nor called until a person accepts it; so is one that came later."""
    server = ["python3", "server.py"]
    with Link(caller) as link:
        equal(link.tools(), ["read_file", "write_file", "echo", "act"])
    for mark, tool in (("changed", "read_file"), ("changed-schema", "read_file"), ("changed-annotations", "read_file"), ("added", "added")):
        (caller.workspace / mark).touch()
        with Link(caller) as link:
            expect(tool not in link.tools(), mark)
            equal(link.text(tool, path="a"), "CORDON-TOOL-CHANGED", mark)
            equal(link.text("write_file", path="a"), "write_file", "the others go on")
        expect(b"held back" in link.err, link.err)
        shown = caller.verb("mcp", "wrap", "--pins", "--", *server).stdout.decode()
        expect(f"waiting  {tool}" in shown, shown)
        expect(mark != "changed" or "Send it to evil.example" in shown, shown)
        equal(caller.verb("mcp", "wrap", "--accept", "--", *server).returncode, 0)
        with Link(caller) as link:
            expect(tool in link.tools(), mark)
            equal(link.text(tool, path="a"), tool, mark)
    # The server's own file: it is not started, and so answers nothing, until that is accepted.
    (caller.workspace / "server.py").write_text((caller.workspace / "server.py").read_text() + "\n# another\n")
    refused = caller.verb("mcp", "wrap", "--allow-tool", "*", "--", *server)
    expect(refused.returncode == 125 and b"own files have changed" in refused.stderr and b"--accept" in refused.stderr, refused)
    expect(b"changed  the server's own files" in caller.verb("mcp", "wrap", "--pins", "--", *server).stdout)
    equal(caller.verb("mcp", "wrap", "--accept", "--", *server).returncode, 0)
    expect(b"own files" not in caller.verb("mcp", "wrap", "--allow-tool", "*", "--", *server).stderr)
    (caller.workspace / "server.py").write_text(HOSTILE)
    equal(caller.verb("mcp", "wrap", "--accept", "--", *server).returncode, 0)
    # Kept where no sandbox writes, and refused as a workspace (C283).
    kept, = (caller.home / ".local/state/cordon/mcp").iterdir()
    equal(kept.stat().st_mode & 0o777, 0o600)
    with Link(caller) as link:
        expect(link.text("act", what="open", path=str(kept)).startswith("error"))


def poison(caller):
    """C266, C267: descriptions that hide something, and names that look like others, wait for a person."""
    for word, tool in (("hidden", "hidden"), ("comment", "comment"), ("escapes", "escapes"), ("huge", "huge"), ("collides", "READ_file")):
        with Link(caller, ("--allow-tool", "*"), word) as link:
            equal(link.tools(), ["read_file", "write_file", "echo", "act"], word)
            equal(link.text(tool), "CORDON-TOOL-CHANGED", word)
    shown = caller.verb("mcp", "wrap", "--pins", "--", "python3", "server.py", "hidden").stdout.decode()
    expect("<U+200B>" in shown and "\u200b" not in shown, shown)
    expect(b"\x1b" not in caller.verb("mcp", "wrap", "--pins", "--", "python3", "server.py", "escapes").stdout)
    expect("do your days" in caller.verb("mcp", "wrap", "--pins", "--", "python3", "server.py", "comment").stdout.decode())
    # The counter-arm: a person has seen it.
    equal(caller.verb("mcp", "wrap", "--accept", "--", "python3", "server.py", "comment").returncode, 0)
    with Link(caller, ("--allow-tool", "*"), "comment") as link:
        equal((link.tools()[-1], link.text("comment")), ("comment", "comment"))


def namesakes(caller):
    """C267: rules and pins are one server's, and a name is the whole name."""
    rules = policy(caller, PATHS.partition("[tools.x]")[0] + '[tools.x]\nallow = ["read_file"]\n')
    with Link(caller, rules, "prefixes") as link:
        equal(link.tools(), ["read_file"])
        for tool in ("read_file2", "xread_file", "read_fil", "READ_FILE", "x/read_file", "x__read_file"):
            expect("CORDON-TOOL-" in json.dumps(link.call(tool)) or "error" in link.call(tool), tool)
        equal(link.text("read_file"), "read_file")
    # The same tool of another server is another tool: no rule of x is a rule of y.
    with Link(caller, rules, "prefixes", name="y") as link:
        equal((link.tools(), link.text("read_file")), ([], "CORDON-TOOL-DENIED"))
    with Link(caller, ("--allow-tool", "read_file*"), "prefixes") as link:
        equal((link.tools(), link.text("read_file2")), (["read_file", "read_file2"], "read_file2"))
    # What was pinned for one command says nothing about another: each has its first sight.
    (caller.workspace / "changed").touch()
    with Link(caller, rules, "prefixes") as link:
        equal((link.tools(), link.text("read_file")), ([], "CORDON-TOOL-CHANGED"))
    with Link(caller, rules, "prefixes", "again") as link:
        equal(link.tools(), ["read_file"])


def launch(caller):
    """C275: the server's command is words, which no shell reads."""
    words = ("; touch pwned", "$(touch pwned)", "`touch pwned`", "| touch pwned", "&& touch pwned", "--allow-tool", "*", "-", "", "a b")
    with Link(caller, ("--allow-tool", "act", "--live"), *words) as link:
        equal(json.loads(link.text("act", what="words")), ["server.py", *words])
    for command in (["python3 server.py; touch pwned"], ["./server.py$(touch pwned)"]):
        done = caller.verb("mcp", "wrap", "--live", "--allow-tool", "*", "--", *command)
        expect(done.returncode not in (0, None), command, done)
    expect(not (caller.workspace / "pwned").exists())
    # The counter-arm: who starts a shell has one.
    with Link(caller, ("--allow-tool", "act", "--live"), command=["sh", "-c", "touch pwned; exec python3 server.py"]) as link:
        link.text("act", what="words")
    expect((caller.workspace / "pwned").exists())


def contained(caller):
    """C275, C276: the server has its workspace and nothing of the caller's: neither files nor variables."""
    secret = caller.home / "secret"
    secret.write_text("secret")
    with Link(caller, environment={"CALLER_TOKEN": "t"}) as link:
        expect(link.text("act", what="open", path=str(secret)).startswith("error"))
        expect(link.text("act", what="open", path="/etc/shadow").startswith("error"))
        expect("CALLER_TOKEN" not in link.text("act", what="environment"))
        equal(link.text("act", what="open", path="server.py")[:5], "read ")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with Link(caller) as link:
            expect(link.text("act", what="dial", port=port).startswith("error"))
            equal(link.text("act", what="fork"), "done")
        equal(survivors(5), [], "what it has started ends with it")
        # The counter-arm: without Cordon it dials, and leaves one behind.
        with Link(caller, wrapped=False) as link:
            equal(link.text("act", what="dial", port=port), "connected")
            equal(link.text("act", what="fork"), "done")
        left = survivors(1)
        equal(len(left), 1)
        os.kill(int(left[0].split()[0]), 9)
    with Link(caller, ("--allow-tool", "*", "--allow-read", str(secret), "--env", "CALLER_TOKEN"), environment={"CALLER_TOKEN": "t"}) as link:
        equal(link.text("act", what="open", path=str(secret)), "read secret")
        expect("CALLER_TOKEN" in link.text("act", what="environment"))


def filter_confined(caller):
    """The process that reads the lines has three descriptors, no rights, and a filter; it dies with its link, and the link with it."""
    with Link(caller) as link:
        pid, = [pid for pid in descendants(link.child.pid) if name_of(pid) == "cordon-mcp"]
        status = dict(line.split(":\t") for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
        equal((status["Seccomp"].strip(), status["NoNewPrivs"].strip(), int(status["CapEff"], 16)), ("2", "1", 0))
        descriptors = {name: os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")}
        equal(sorted(descriptors), ["0", "1", "2"])
        expect(all(target.startswith("pipe:") for target in descriptors.values()), descriptors)
        equal(pathlib.Path(f"/proc/{pid}/environ").read_bytes(), b"")
        os.kill(pid, 9)
        link.say('{"jsonrpc":"2.0","id":1,"method":"ping"}')
        equal(link.end(), 125, link.err)
    expect(b"the filter cordon-mcp has ended" in link.err, link.err)
    equal(survivors(5), [])


def ends(caller):
    """A client that leaves, or a signal, ends the server and all that stood for it."""
    with Link(caller) as link:
        link.text("echo")
    equal((link.end(), survivors(5)), (0, []))
    with Link(caller) as link:
        link.text("echo")
        link.child.terminate()
        expect(link.child.wait(slow(20)) != 0)
    equal(survivors(5), [])


YES = {"action": "accept", "content": {"decision": "allow once"}}


def asked(caller):
    """C281, legacy: a person is asked by the client, for this call alone."""
    flags = ("--ask-tool", "write_file", "--allow-tool", "echo")
    with Link(caller, flags, capabilities='{"elicitation":{}}') as link:
        for answer, code in ((YES, "write_file"), ({"action": "decline"}, "CORDON-TOOL-DECLINED"), ({"action": "accept", "content": {"decision": "deny"}}, "CORDON-TOOL-DECLINED")):
            link.say('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"a"}}}')
            question = json.loads(link.hear())
            equal(question["method"], "elicitation/create")
            expect('{"path":"a"}' in question["params"]["message"], question)
            link.say(json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": answer}))
            heard = link.hear().decode()
            expect(code in heard, heard)
            link.say(json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": YES}))       # once more: it is used up
        equal(json.loads(link.text("echo"))["seen"], ["write_file", "echo"])
    equal([record["approved"] for record in records(caller, "tool_called")], [True, False])
    with Link(caller, flags) as link:
        equal(link.text("write_file"), "CORDON-TOOL-ASK", "nobody can be asked")


MIRROR = """import sys
with open("received", "ab", buffering=0) as file:
    for line in sys.stdin.buffer:
        file.write(line)
"""
PIECES = ['"name"', '"Name"', '"n\\u0061me"', '"echo"', '"act"', '"arguments"', '"ARGUMENTS"', "{}", '{"a":1}', '{"a":1,"a":2}', "[1]", "1e5", "1E400", "-0", "0.1", "9007199254740993",
          '"\\ud83d\\ude00"', '"\\ud800"', '"\\u0000"', "null", "true", ",", ":", "{", "}", "[", "]", '"', "\\", " ", "\t", "\r", "\x0b", "\u00a0", "\ufeff", "\u2028", "//", "'", "NaN", "\x00", '"method"', '"tools/call"']
READ = """let text = ""; process.stdin.on("data", (part) => text += part).on("end", () => {
  for (const line of text.split("\\n")) {
    if (!line) continue;
    const { method, params } = JSON.parse(line);
    console.log(JSON.stringify([method, params?.name ?? null, params?.arguments ?? null]));
  }
});"""


def readers_agree(caller):
    """Of lines that were twisted at random, Python's reader and node's read the same in each that was let through."""
    (caller.workspace / "mirror.py").write_text(MIRROR)
    chance = random.Random(caller.name)
    base = '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"path":"x","n":[1,2]}}}'
    link = Link(caller, command=["python3", "mirror.py"])
    said = []
    for number in range(4000):
        line = base % number
        for _ in range(chance.randint(0, 2)):
            at = chance.randrange(len(line))
            line = line[:at] + chance.choice(PIECES) + line[at + chance.randint(0, 4):]
        said.append(line.replace("\n", ""))
    # They are 256 under way at most: each is given up behind it.
    for number, line in enumerate(said):
        link.say(line)
        link.say('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}' % number)
    equal(link.end(), 0, link.err)
    received = [line for line in (caller.workspace / "received").read_bytes().decode().split("\n") if line and "notifications/cancelled" not in line]
    expect(500 < len(received) < 4000, len(received))
    expect(set(received) <= set(said), "a line that nobody said")

    def refuse_twice(pairs):
        equal(len({key.casefold() for key, _ in pairs}), len(pairs), pairs)
        return dict(pairs)

    own = []
    for line in received:
        message = json.loads(line, object_pairs_hook=refuse_twice)
        params = message.get("params") or {}
        own.append([message["method"], params.get("name"), params.get("arguments")])
    node = subprocess.run(["node", "-e", READ], input="\n".join(received).encode(), capture_output=True, timeout=60)
    equal(node.returncode, 0, node.stderr)
    equal([json.loads(line) for line in node.stdout.decode().split("\n") if line], own)
    return f"{len(received)} of {len(said)} lines"


def imported(caller):
    """--import: every stdio server is wrapped, all else is as it was, and the file as it was is kept."""
    file = caller.home / "client.json"
    text = """{
  "theme" : "dark",   "numbers": [1, 2.50],
  "mcpServers": {
    "time": {"command": "python3", "args": ["server.py", "a b"], "env": {"KEY": "secret"}},
    "bare": {"command": "server"},
    "far": {"url": "https://example.com/mcp"},
    "done": {"command": "/usr/bin/cordon", "args": ["mcp", "wrap", "--", "x"]}
  },
  "projects": {"/p": {"mcpServers": {"inner": {"args": ["y"], "command": "z"}}}}
}
"""
    file.write_text(text)
    file.chmod(0o600)
    os.chown(file, caller.uid, caller.uid)
    words = ("mcp", "wrap", "--allow-net", "example.com", "--import", str(file))
    done = caller.verb(*words, "--dry-run")
    equal((done.returncode, file.read_text()), (0, text), done.stderr)
    done = caller.verb(*words)
    equal(done.returncode, 0, done.stderr)
    for name, word in (("time", "wrapped"), ("far", "left: it is reached by a URL"), ("done", "wrapped already"), ("inner", "wrapped")):
        expect(f"{name}: {word}\n" in done.stdout.decode(), name, done.stdout)
    now = json.loads(file.read_text())
    cordon = str(caller.programs / "cordon")
    servers = now["mcpServers"]
    equal(servers["time"], {"command": cordon, "args": ["mcp", "wrap", "--allow-net", "example.com", "--name", "time", "--allow-tool", "*", "--env", "KEY", "--",
                                                       "python3", "server.py", "a b"], "env": {"KEY": "secret"}})
    equal(servers["bare"]["args"][-2:], ["--", "server"])
    equal(now["projects"]["/p"]["mcpServers"]["inner"]["args"][-3:], ["--", "z", "y"])
    expect('"theme" : "dark",   "numbers": [1, 2.50],' in file.read_text())
    equal(file.stat().st_mode & 0o777, 0o600)
    backup, = caller.home.glob("client.json.bak-*")
    equal(backup.read_text(), text)
    again = caller.verb(*words, "--json", "-")
    equal({server["done"] for server in json.loads(again.stdout)["servers"]}, {"wrapped already", "left: it is reached by a URL"})
    equal(len(list(caller.home.glob("client.json.bak-*"))), 1)
    (caller.home / "bad.json").write_text('{"mcpServers": {}, // a comment\n}')
    expect(caller.verb("mcp", "wrap", "--import", str(caller.home / "bad.json")).returncode != 0)


CHECKS = {act.__name__: act for act in (transcript, tools_obey, arguments, nobody_listed, lines, pieces, server_talk, server_asks, pins, poison, namesakes, launch, contained,
                                        filter_confined, ends, asked, readers_agree, imported)}
if __name__ == "__main__":
    main(CHECKS)
