# SPDX-License-Identifier: Apache-2.0
"""`cordon mcp serve` over pipes: both eras, every tool, and what a client must not be able to break."""
import json
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "callers"))
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from caller import descendants, name_of, survivors  # noqa: E402
from check import equal, expect, main  # noqa: E402
from client import PREFIX, VERSION, Client, memory_of  # noqa: E402
from pace import slow  # noqa: E402

ERAS = ("legacy", "modern")
FORM = {"elicitation": {"form": {}}}


def text_of(result):
    return result["content"][0]["text"]


def named(server, name):
    """Processes of this name below the server."""
    return [pid for pid in descendants(server.child.pid) if name_of(pid) == name]


def handshakes(caller):
    with Client(caller) as legacy:
        equal(legacy.initialized["protocolVersion"], "2025-11-25")
        equal(len(legacy.initialized["instructions"].splitlines()), 6)
        expect(str(caller.workspace) in legacy.initialized["instructions"])
        equal(legacy.ask("ping")["result"], {})
        equal(legacy.ask("server/discover")["error"]["code"], -32601, "without an envelope it is no method")
        legacy.end()
    with Client(caller, begin=False) as old:
        for wanted, got in (("2025-06-18", "2025-06-18"), ("2025-03-26", "2025-03-26"), ("1999-01-01", "2025-11-25")):
            answer = old.ask("initialize", {"protocolVersion": wanted, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
            equal(answer["result"]["protocolVersion"], got)
    with Client(caller, era="modern") as modern:
        found = modern.ask("server/discover")["result"]
        equal((found["supportedVersions"], found["resultType"]), ([VERSION], "complete"))
        expect(found["ttlMs"] >= 0 and found["cacheScope"] == "private", found)
        for method in ("initialize", "ping", "logging/setLevel", "no/such"):
            equal(modern.ask(method)["error"]["code"], -32601, method)
        modern.end()


def tool_list_is_the_same_twice(caller):
    for era in ERAS:
        with Client(caller, era=era) as client:
            lists = []
            for _ in range(2):
                number = client.begin("tools/list")
                client.answer(number)
                lists.append(client.raw[-1].replace(f'"id":{number},'.encode(), b""))
            equal(lists[0], lists[1], era)
            tools = json.loads(lists[0])["result"]["tools"]
            equal([tool["name"] for tool in tools], ["run", "run_code", "process", "read_output", "diff", "apply", "explain", "request_access"])
            equal({tool["name"]: tool["annotations"]["destructiveHint"] for tool in tools if tool["annotations"]["destructiveHint"]}, {"apply": True})
            equal("resultType" in json.loads(lists[0])["result"], era == "modern")


def runs_commands(caller):
    (caller.workspace / "given").write_text("of the host\n")
    for era in ERAS:
        with Client(caller, era=era) as client:
            result = client.call("run", {"command": "cat given; echo bad >&2; exit 3"})
            equal(("isError" in result, result.get("resultType")), (False, "complete" if era == "modern" else None))
            got = result["structuredContent"]
            equal((got["exit_code"], got["stdout"], got["stderr"], got["running"], got["process"]), (3, "of the host\n", "bad\n", False, None))
            equal(client.run("kill -9 $$")["signal"], "SIGKILL")
            equal(client.call("run", {"argv": ["printf", "%s", "$HOME;"]})["structuredContent"]["stdout"], "$HOME;", "no shell")
            equal(client.run("cat; pwd; echo $WORD", stdin="said\n", cwd="/tmp", env={"WORD": "own"})["stdout"], "said\n/tmp\nown\n")
            absent = client.call("run", {"argv": ["no-such-program"]})
            expect(absent["isError"] and "No such file" in text_of(absent), absent)
            client.end()
    equal(survivors(3), [])


def layer_gathers_and_shows_the_host(caller):
    """Each command has a fresh view of the workspace, over what the ones before wrote."""
    with Client(caller) as client:
        equal(client.run("echo one >a")["changed"], {"added": 1, "modified": 0, "deleted": 0})
        (caller.workspace / "edited").write_text("by the client\n")
        equal(client.run("cat a edited; echo two >b")["stdout"], "one\nby the client\n")
        expect(not (caller.workspace / "a").exists(), "it landed")
        found = client.call("diff")["structuredContent"]
        equal(([file["path"] for file in found["files"]], found["total"], found["truncated"]), (["a", "b"], 2, False))
        patch = client.call("diff", {"format": "patch", "path": "b"})["structuredContent"]
        expect("+two" in patch["patch"] and "+one" not in patch["patch"], patch)
        equal(caller.verb("diff", found["run"]).returncode, 0, "a person sees the same")
        expect("outside" in text_of(client.call("diff", {"path": "../x"})))
        client.end()
    waits = caller.verb("diff").stdout.decode()
    expect("a" in waits and "b" in waits, waits)
    with Client(caller, "--live") as live:
        live.run("echo now >lands")
        expect((caller.workspace / "lands").read_text() == "now\n")
        equal(live.ask("tools/call", {"name": "diff", "arguments": {}})["error"]["code"], -32602, "nothing waits")


def denials(caller):
    with Client(caller) as client:
        got = client.run("echo x >/etc/cordon-test; touch own")
        denial, = got["denials"]
        equal(denial["code"], "CORDON-FS-WRITE")
        expect("/etc/cordon-test" in denial["tried"] and not denial["retryable"], denial)
        equal(client.run("touch own")["denials"], [], "the counter-arm")


def output_is_capped(caller):
    with Client(caller) as client:
        got = client.run("seq 1 100000; echo end >&2", max_output=1000)
        expect(got["truncated"] and len(got["stdout"]) < 1100 and got["stdout"].endswith("100000\n"), got["stdout"])
        whole, at = "", 0
        while at is not None:
            part = client.call("read_output", {"output_id": got["output_id"], "offset": at, "limit": 100000})["structuredContent"]
            whole, at = whole + part["text"], part["next"]
        equal(whole, "".join(f"{n}\n" for n in range(1, 100001)) + "\n[stderr]\nend\n")
        found = client.call("read_output", {"output_id": got["output_id"], "grep": "9999"})["structuredContent"]["text"]
        equal(found.split()[0], "9999")
        small = client.run("echo little")
        equal((small["truncated"], small["output_id"]), (False, None))
        expect(client.call("read_output", {"output_id": "o99"})["isError"])
        got = client.run("head -c 30000000 /dev/zero | tr '\\0' x")
        expect(len(got["stdout"]) < 21000, len(got["stdout"]))
        equal(client.run("printf 'a\\377b'")["stdout"], "a\ufffdb")


def processes_live_on(caller):
    with Client(caller) as client:
        begun = client.run("cat; echo last", timeout_s=0, keep_stdin=True)
        expect(begun["running"] and begun["process"] and begun["exit_code"] is None, begun)
        name = begun["process"]
        beside = client.run("echo beside")
        equal((beside["stdout"], beside["exit_code"]), ("beside\n", 0))
        client.call("process", {"process": name, "action": "write", "data": "hello\n"})
        read = client.call("process", {"process": name, "action": "read", "timeout_s": 10})["structuredContent"]
        equal((read["output"], read["running"]), ("hello\n", True))
        client.call("process", {"process": name, "action": "write", "data": "", "eof": True})
        ended = client.call("process", {"process": name, "action": "wait", "timeout_s": 20})["structuredContent"]
        equal((ended["running"], ended["exit_code"], ended["output"]), (False, 0, "last\n"))
        slept = client.run("exec sleep 1000", timeout_s=1)["process"]
        client.call("process", {"process": slept, "action": "signal", "signal": "SIGTERM"})
        ended = client.call("process", {"process": slept, "action": "wait"})["structuredContent"]
        equal((ended["running"], ended["signal"]), (False, "SIGTERM"))
        expect(client.call("process", {"process": "p99", "action": "read"})["isError"])
        client.end()
    equal(survivors(3), [])


def run_code(caller):
    with Client(caller) as client:
        got = client.call("run_code", {"language": "python", "code": "print('x')\nn = 20\nn + 1"})["structuredContent"]
        equal((got["exit_code"], got["stdout"], got["stderr"], got["result"]), (0, "x\n", "", "21"))
        got = client.call("run_code", {"language": "python", "code": "x = 1"})["structuredContent"]
        equal((got["exit_code"], got["result"]), (0, None))
        got = client.call("run_code", {"language": "python", "code": "1/0"})["structuredContent"]
        expect(got["exit_code"] == 1 and "ZeroDivisionError" in got["stderr"], got)
        got = client.call("run_code", {"language": "bash", "code": "echo $((6*7))"})["structuredContent"]
        equal(got["stdout"], "42\n")
        equal(client.call("run_code", {"language": "perl", "code": ""})["code"], -32602)


def garbage(caller):
    """Whatever comes, it is answered, and the next message is served."""
    meta = {PREFIX + "protocolVersion": "2099-01-01", PREFIX + "clientCapabilities": {}}
    bad = {-32700: [b"garbage", b"{", b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', b"[" * 1000 + b"]" * 1000, b'{"a":1}{"b":2}', b"\x00\x01"],
           -32600: [b"[]", b"1", b'"text"', b"null", b"{}", b'{"jsonrpc":"1.0","id":1,"method":"ping"}', b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
                    b'{"jsonrpc":"2.0","id":{},"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}'],
           -32022: [json.dumps({"jsonrpc": "2.0", "id": 900, "method": "tools/list", "params": {"_meta": meta}}).encode()]}
    with Client(caller) as client:
        for code, lines in bad.items():
            for line in lines:
                client.send(line)
                equal(client.next()["error"]["code"], code, line[:60])
        client.send(b"")
        client.send(b'{"jsonrpc":"2.0","id":5,"result":{}}')
        client.send(b'{"jsonrpc":"2.0","method":"notifications/nonsense"}')
        for tool, arguments in (("no_such_tool", {}), ("run", {"command": 1}), ("run", {"command": "ls", "unsandboxed": True}),
                                ("run", {"command": "ls", "timeout_s": 51}), ("run", {"argv": []}), ("apply", {}), ("explain", {"op": "read"})):
            equal(client.call(tool, arguments)["code"], -32602, tool, arguments)
        for arguments in ({}, {"command": "ls", "argv": ["ls"]}, {"argv": ["a\0b"]}, {"command": "ls", "env": {"A=B": "c"}},
                          {"command": "ls", "sandbox": "s9"}):
            expect(client.call("run", arguments)["isError"], arguments)
        whole = json.dumps({"jsonrpc": "2.0", "id": 901, "method": "tools/call",
                            "params": {"name": "run", "arguments": {"command": "printf '%s' 'ä€𝄞'"}}}, ensure_ascii=False).encode() + b"\n"
        for byte in whole:
            client.child.stdin.write(bytes([byte]))
            client.child.stdin.flush()
        equal(client.answer(901)["result"]["structuredContent"]["stdout"], "ä€𝄞", "split UTF-8")


def long_lines(caller):
    """10 MB without a newline, then more: one error, and bounded memory."""
    with Client(caller) as client:
        client.ask("ping")
        before = memory_of(client.child.pid)
        for _ in range(10):
            client.child.stdin.write(b"x" * 1_000_000)
        client.child.stdin.flush()
        equal(client.next()["error"]["code"], -32600)
        for _ in range(100):
            client.child.stdin.write(b"x" * 1_000_000)
        client.send(b"")
        equal(client.ask("ping")["result"], {})
        grown = memory_of(client.child.pid) - before
        expect(grown < 64 << 20, grown)
        equal(client.run("wc -c", stdin="y" * 3_000_000)["stdout"].strip(), "3000000", "what is allowed")


def client_that_does_not_read(caller):
    """It is not read either, so that nothing piles up for it; when it reads, all is answered."""
    with Client(caller) as client:
        client.paused.clear()
        before, number = memory_of(client.child.pid), 1000
        ping = b'{"jsonrpc":"2.0","id":%d,"method":"tools/list"}\n'
        os.set_blocking(client.child.stdin.fileno(), False)
        sent = b"".join(ping % (number + n) for n in range(20000))
        end, at = time.monotonic() + slow(5), 0
        while at < len(sent) and time.monotonic() < end:
            try:
                at += os.write(client.child.stdin.fileno(), sent[at:at + 65536])
            except BlockingIOError:
                time.sleep(0.05)
        grown = memory_of(client.child.pid) - before
        expect(grown < 200 << 20, grown)
        expect(at < len(sent), "it took everything")
        client.paused.set()
        os.set_blocking(client.child.stdin.fileno(), True)
        whole = sent[:at].count(b"\n")
        client.answer(number + whole - 1)


def calls_interleave(caller):
    """Many at once: each is answered, the short ones first; an id that is in use is refused."""
    with Client(caller) as client:
        slow_one = client.begin("tools/call", {"name": "run", "arguments": {"command": "sleep 3; echo slow"}})
        client.send(json.dumps({"jsonrpc": "2.0", "id": slow_one, "method": "tools/call",
                                "params": {"name": "run", "arguments": {"command": "true"}}}).encode())
        equal(client.next()["error"]["code"], -32600)
        quick = [client.begin("tools/call", {"name": "run", "arguments": {"command": f"echo {n}"}}) for n in range(8)]
        for n, number in enumerate(quick):
            equal(client.answer(number)["result"]["structuredContent"]["stdout"], f"{n}\n")
        expect(slow_one not in client.answers, "the slow one was first")
        equal(client.answer(slow_one)["result"]["structuredContent"]["stdout"], "slow\n")


def cancelling_kills(caller):
    with Client(caller) as client:
        number = client.begin("tools/call", {"name": "run", "arguments": {"command": "sleep 1001 & setsid sleep 1002 & sleep 1003; echo no"}})
        end = time.monotonic() + slow(10)
        while len(named(client, "sleep")) < 3 and time.monotonic() < end:
            time.sleep(0.05)
        equal(len(named(client, "sleep")), 3, "they run")
        client.tell("notifications/cancelled", {"requestId": number, "reason": "test"})
        while named(client, "sleep") and time.monotonic() < end:
            time.sleep(0.02)
        equal(named(client, "sleep"), [])
        equal(client.run("echo after")["stdout"], "after\n")
        expect(number not in client.answers, "a cancelled request is not answered")
        client.tell("notifications/cancelled", {"requestId": 999})
        client.tell("notifications/cancelled", {"nonsense": 1})
        equal(client.ask("ping")["result"], {})


def end_of_input_ends_all(caller):
    with Client(caller) as client:
        client.run("sleep 1004", timeout_s=0)
        client.begin("tools/call", {"name": "run", "arguments": {"command": "sleep 1005"}})
        end = time.monotonic() + slow(10)
        while len(named(client, "sleep")) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        expect(client.end() < slow(10))
    equal(survivors(3), [])
    with Client(caller) as client:
        client.run("sleep 1006", timeout_s=0)
        client.child.terminate()
        client.child.wait(timeout=slow(10))
    equal(survivors(3), [])
    with Client(caller) as client:
        client.run("sleep 1007", timeout_s=1)
        client.child.kill()
        client.child.wait()
    equal(survivors(5), [], "after the server's own death")


def stdout_is_the_servers(caller):
    """What programs write reaches a client in results only, whatever they do to their descriptors."""
    fake = '{"jsonrpc":"2.0","id":77,"result":{}}'
    with Client(caller) as client:
        client.run(f"echo '{fake}'; echo '{fake}' >&2; echo '{fake}' >/dev/tty; echo '{fake}' >/proc/1/fd/1; echo '{fake}' >/dev/stdout; true")
        client.ask("ping")
        for line in client.raw:
            expect(json.loads(line).get("id") != 77, line)


def no_call_outlasts_the_client(caller):
    with Client(caller) as client:
        begin = time.monotonic()
        number = client.begin("tools/call", {"name": "run", "arguments": {"command": "sleep 1008"}}, progress="t1")
        got = client.answer(number, seconds=60)["result"]["structuredContent"]
        expect(got["running"] and time.monotonic() - begin < 50.5, time.monotonic() - begin)
        told = [other["params"] for other in client.others if other["method"] == "notifications/progress"]
        expect(len(told) >= 5 and all(one["progressToken"] == "t1" for one in told), told)
        equal([one["progress"] for one in told], sorted({one["progress"] for one in told}), "it grows")
        client.end()


def agree(choice, seen=None):
    def answer(message):
        equal(message["method"], "elicitation/create")
        if seen is not None:
            seen.append(message["params"]["message"])
        return {"action": "accept", "content": {"decision": choice}} if choice else {"action": "decline"}
    return answer


def with_consent(client, tool, arguments, choice, seen=None):
    """A call, with a person who says `choice` when asked, in the way of the client's era."""
    if client.era == "legacy":
        return client.call(tool, arguments, on_request=agree(choice, seen))
    first = client.call(tool, arguments)
    if first.get("resultType") != "input_required":
        return first
    key, request = next(iter(first["inputRequests"].items()))
    answer = agree(choice, seen)({"method": request["method"], "params": request["params"]})
    return client.call(tool, arguments, {"inputResponses": {key: answer}, "requestState": first["requestState"]})


def apply_asks(caller):
    for era in ERAS:
        with Client(caller, era=era, capabilities=FORM) as client:
            name = f"{era}.txt"
            client.run(f"echo text >{name}; mkdir -p .git/hooks; echo x >.git/hooks/pre-commit-{era}")
            expect_hash = client.call("diff")["structuredContent"]["expect"]
            expect(with_consent(client, "apply", {"expect": "0" * 64, "paths": [name]}, "apply")["isError"], "another hash")
            expect(with_consent(client, "apply", {"expect": expect_hash, "paths": [name]}, None)["isError"], "declined")
            expect(with_consent(client, "apply", {"expect": expect_hash, "paths": [name]}, "refuse")["isError"], "refused")
            expect(with_consent(client, "apply", {"expect": expect_hash, "paths": ["../out"]}, "apply")["isError"], "outside")
            expect(not (caller.workspace / name).exists())
            seen = []
            done = with_consent(client, "apply", {"expect": expect_hash, "paths": [name]}, "apply", seen)
            equal(done["structuredContent"]["applied"], [name])
            expect(name in seen[0], seen)
            equal((caller.workspace / name).read_text(), "text\n")
            expect_hash = client.call("diff")["structuredContent"]["expect"]
            client.run(f"echo changed >after-{era}")
            late = with_consent(client, "apply", {"expect": expect_hash}, "apply")
            expect(late.get("isError"), "it changed since", late)
            expect(not (caller.workspace / f"after-{era}").exists())
            seen = []
            done = with_consent(client, "apply", {"expect": client.call("diff")["structuredContent"]["expect"]}, "apply", seen)
            equal(done["structuredContent"]["remaining"], 0)
            expect("!" in seen[0], "a hook is marked", seen)
            equal(client.run(f"cat after-{era}")["stdout"], "changed\n", "a new layer is begun")
            client.end()


def apply_without_anybody(caller):
    for era in ERAS:
        with Client(caller, era=era) as client:
            client.run(f"echo text >{era}")
            found = client.call("diff")["structuredContent"]
            refused = client.call("apply", {"expect": found["expect"]})
            command = f"cordon apply {found['run']} --all"
            expect(refused["isError"] and command in text_of(refused), refused)
            equal(caller.verb(*command.split()[1:]).returncode, 0, "what a person may type")
            equal((caller.workspace / era).read_text(), "text\n")
            equal(client.call("diff")["structuredContent"]["files"], [])
    with Client(caller, "--allow-apply") as client:
        client.run("echo text >unasked")
        client.call("apply", {"expect": client.call("diff")["structuredContent"]["expect"]})
        equal((caller.workspace / "unasked").read_text(), "text\n", "the operator has agreed")


def apply_waits_for_processes(caller):
    with Client(caller, "--allow-apply") as client:
        process = client.run("echo x >f; sleep 1009", timeout_s=1)["process"]
        hash_now = client.call("diff")["structuredContent"]["expect"]
        expect(client.call("apply", {"expect": hash_now})["isError"])
        client.call("process", {"process": process, "action": "signal", "signal": "SIGKILL"})
        client.call("process", {"process": process, "action": "wait"})
        hash_now = client.call("diff")["structuredContent"]["expect"]
        equal(client.call("apply", {"expect": hash_now})["structuredContent"]["applied"], ["f"])


def request_states(caller):
    """Of the modern era: only our own, only for what was asked, and only once."""
    with Client(caller, era="modern", capabilities=FORM) as client, Client(caller, era="modern", capabilities=FORM) as other:
        data, elsewhere = caller.directory("data"), caller.directory("elsewhere")
        arguments = {"op": "read", "target": str(data), "reason": "test"}
        first = client.call("request_access", arguments)
        equal(first["resultType"], "input_required")
        key = next(iter(first["inputRequests"]))
        answer = {key: {"action": "accept", "content": {"decision": "once"}}}

        def again(state, what, by=client):
            return by.call("request_access", what, {"inputResponses": answer, "requestState": state})
        state = first["requestState"]
        equal(again("x", arguments)["code"], -32602)
        equal(again(state[:-1] + ("0" if state[-1] != "0" else "1"), arguments)["code"], -32602)
        equal(again(state, {**arguments, "target": str(elsewhere)})["code"], -32602, "other arguments")
        equal(again(state, {**arguments, "reason": "another"})["code"], -32602, "another reason")
        equal(again(state, arguments, other)["code"], -32602, "of another server")
        equal(again(state, arguments)["structuredContent"]["decision"], "granted")
        equal(again(state, arguments)["code"], -32602, "twice")


def access(caller):
    data = caller.directory("data")
    (data / "file").write_text("wanted\n")
    (data / "file").chmod(0o644)
    arguments = {"op": "read", "target": str(data), "reason": "the test data"}
    for era in ERAS:
        with Client(caller, era=era) as client:
            answer = client.call("request_access", arguments)["structuredContent"]
            equal((answer["decision"], answer["sandbox"]), ("denied", None))
            expect(f"--allow-read {data}" in answer["fix"] and answer["fix"].startswith("cordon mcp serve"), answer)
        with Client(caller, era=era, capabilities=FORM) as client:
            expect(client.run(f"cat {data}/file")["exit_code"] != 0)
            answer = with_consent(client, "request_access", arguments, "deny")["structuredContent"]
            equal(answer["decision"], "denied")
            seen = []
            answer = with_consent(client, "request_access", arguments, "once", seen)["structuredContent"]
            equal(answer["decision"], "granted")
            expect("the test data" in seen[0] and str(data) in seen[0], seen)
            expect(client.run(f"cat {data}/file")["exit_code"] != 0, "the usual one is as it was")
            equal(client.run(f"cat {data}/file", sandbox=answer["sandbox"])["stdout"], "wanted\n")
            expect(client.call("run", {"command": "true", "sandbox": answer["sandbox"]})["isError"], "it was for one")
            answer = with_consent(client, "request_access", arguments, "once")["structuredContent"]
            twice = [client.begin("tools/call", {"name": "run", "arguments": {"command": f"cat {data}/file", "sandbox": answer["sandbox"]}})
                     for _ in range(2)]
            equal(sorted(client.answer(number)["result"].get("isError", False) for number in twice), [False, True], "not for two at once either")
            living = client.run("sleep 1010", timeout_s=1)["process"]
            answer = with_consent(client, "request_access", {**arguments, "scope": "session"}, "session")["structuredContent"]
            refused = client.call("run", {"command": f"cat {data}/file"})
            expect(refused["isError"] and "another sandbox" in text_of(refused), "a living one is not widened", refused)
            expect(client.run(f"cat {data}/file", sandbox="s1")["exit_code"] != 0)
            killed = client.call("process", {"process": living, "action": "signal", "signal": "SIGKILL", "timeout_s": 45})
            expect("isError" not in killed, killed)
            ended = client.call("process", {"process": living, "action": "wait", "timeout_s": 45})["structuredContent"]
            equal((ended["running"], ended["signal"]), (False, "SIGKILL"))
            equal(client.run(f"cat {data}/file")["stdout"], "wanted\n", "the usual one from now on")
            equal(with_consent(client, "request_access", arguments, "deny")["structuredContent"]["decision"], "granted", "it is allowed already")
            answer = with_consent(client, "request_access", {"op": "net", "target": "example.com", "reason": "x"}, "once")["structuredContent"]
            for sandbox, allowed in ((answer["sandbox"], True), ("s1", False)):
                found = client.call("explain", {"op": "net", "target": "example.com", "sandbox": sandbox})["structuredContent"]
                equal(found["allowed"], allowed, sandbox)
            client.end()


def access_that_nobody_is_asked_for(caller):
    """Keys, tokens and what is too wide: not in a dialogue of an agent's."""
    (caller.home / ".ssh").mkdir()
    link = caller.workspace / "innocent"
    link.symlink_to(caller.home / ".ssh")
    os.lchown(link, caller.uid, caller.uid)

    def never(message):
        raise AssertionError(f"a person was asked: {message}")
    with Client(caller, capabilities=FORM) as client:
        for op, target in (("read", str(caller.home / ".ssh")), ("read", "~/.ssh/id_ed25519"), ("read", str(link)), ("write", "/"),
                           ("read", str(caller.home)), ("net", "x.ngrok.app"), ("net", "*.example.com")):
            answer = client.call("request_access", {"op": op, "target": target, "reason": "x"}, on_request=never)
            equal(answer["structuredContent"]["decision"], "denied", op, target)
        for op, target in (("port", "0"), ("port", "x"), ("net", "-x"), ("net", "a b"), ("read", "a\nb")):
            expect(client.call("request_access", {"op": op, "target": target, "reason": "x"}, on_request=never)["isError"], op, target)


def explains(caller):
    with Client(caller, "--hide", "*.pem") as client:
        def asked(op, target):
            return client.call("explain", {"op": op, "target": target})["structuredContent"]
        equal(asked("read", "key.pem")["allowed"], False)
        equal(asked("read", "plain.txt")["allowed"], True)
        equal(asked("write", "plain.txt")["grant"], None)
        equal(asked("net", "example.com")["allowed"], False)


def limits(caller):
    with Client(caller, "--memory", "64M") as client:
        got = client.run("python3 -c 'x = bytearray(400 << 20)'")
        expect(got["exit_code"] != 0 or "memory" in (got["ended_by"] or ""), got)
        equal(client.run("echo goes on")["stdout"], "goes on\n")


def refused_before_it_serves(caller):
    ended = caller.verb("mcp", "serve", "--memory", "much")
    equal(ended.returncode, 126, ended.stderr)
    equal(ended.stdout, b"")
    equal(caller.verb("mcp", "serve").returncode, 0, "the counter-arm: no input, no output")


if __name__ == "__main__":
    main({act.__name__: act for act in (
        handshakes, tool_list_is_the_same_twice, runs_commands, layer_gathers_and_shows_the_host, denials, output_is_capped, processes_live_on,
        run_code, garbage, long_lines, client_that_does_not_read, calls_interleave, cancelling_kills, end_of_input_ends_all, stdout_is_the_servers, apply_asks,
        apply_without_anybody, apply_waits_for_processes, request_states, access, access_that_nobody_is_asked_for, explains, limits,
        refused_before_it_serves, no_call_outlasts_the_client)})
