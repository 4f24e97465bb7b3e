# SPDX-License-Identifier: Apache-2.0
"""`cordon mcp serve --http`: who may come in, sessions of the legacy era, headers of the modern one, and streams."""
import http.client
import json
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "callers"))
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from caller import descendants, name_of, survivors  # noqa: E402
from check import equal, expect, main  # noqa: E402
from client import PREFIX, VERSION  # noqa: E402
from pace import slow  # noqa: E402

FORM = {"elicitation": {"form": {}}}


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Server:
    """A context: a server that listens, and its token."""

    def __init__(self, caller, *flags, at=None):
        if at is None:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
            at = f"127.0.0.1:{self.port}"
        self.at, self.token, self.err = at, None, ""
        self.child = subprocess.Popen(caller.words("mcp", "serve", *caller.wall(), "--http", at, *flags), stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=caller.workspace, env=caller.environment(),
                                      start_new_session=True, text=True)
        for line in self.child.stderr:
            self.err += line
            if found := re.search(r"the token of this server: (\S+)", line):
                self.token = found[1]
            if "serving MCP at" in line:
                break
        else:
            raise AssertionError(self.err)
        threading.Thread(target=self.child.stderr.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()

    def connect(self):
        return UnixConnection(self.at[5:]) if self.at.startswith("unix:") else http.client.HTTPConnection("127.0.0.1", self.port, timeout=slow(70))

    def ask(self, body, method="POST", path="/mcp", token=..., **fields):
        """One request; gives status, head and body."""
        head = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        token = self.token if token is ... else token
        if token:
            head["Authorization"] = f"Bearer {token}"
        head |= {name.replace("_", "-"): value for name, value in fields.items()}
        head = {name: value for name, value in head.items() if value is not None}
        connection = self.connect()
        connection.request(method, path, body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode(), head)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, answer.headers, text

    def session(self, capabilities=None):
        status, head, body = self.ask(request("initialize", {"protocolVersion": "2025-11-25", "capabilities": capabilities or {},
                                                             "clientInfo": {"name": "t", "version": "1"}}))
        equal(status, 200, body)
        return head["Mcp-Session-Id"]

    def end(self):
        self.child.terminate()
        equal(self.child.wait(timeout=slow(15)), 0)


def request(method, params=None, number=1):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def run(command, number=1, **arguments):
    return request("tools/call", {"name": "run", "arguments": {"command": command, **arguments}}, number)


def modern(message, capabilities=None):
    """The same with its envelope, and the headers that belong to it."""
    meta = {PREFIX + "protocolVersion": VERSION, PREFIX + "clientCapabilities": capabilities or {}}
    message = {**message, "params": {**message["params"], "_meta": meta}}
    head = {"MCP_Protocol_Version": VERSION, "Mcp_Method": message["method"]}
    if name := message["params"].get("name"):
        head["Mcp_Name"] = name
    return message, head


def who_may_come_in(caller):
    """C273: by another name or from another's page nobody comes in, and nobody without the token."""
    with Server(caller) as server:
        ping = request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
        own = f"127.0.0.1:{server.port}"
        for status, fields in (
                (200, {}), (200, {"Origin": f"http://{own}"}), (200, {"Origin": "http://localhost:3000"}), (200, {"Host": "localhost"}),
                (403, {"Host": "evil.example"}), (403, {"Host": f"evil.example:{server.port}"}), (403, {"Host": f"127.0.0.1.evil.example:{server.port}"}),
                (403, {"Host": f"10.0.0.1:{server.port}"}), (403, {"Origin": "http://evil.example"}), (403, {"Origin": "null"}),
                (403, {"Origin": "http://localhost.evil.example"}), (403, {"Origin": "http://127.0.0.1@evil.example"}), (403, {"Origin": "file://"}),
                (401, {"token": None}), (401, {"token": "x"}), (401, {"token": server.token[:-1]}), (401, {"token": server.token + "0"}),
                (401, {"token": None, "Authorization": f"Basic {server.token}"}), (403, {"token": None, "Origin": "http://evil.example"}),
                (404, {"path": "/"}), (404, {"path": "/mcp/x"}), (415, {"Content_Type": "text/plain"}), (415, {"Content_Type": None}),
                (405, {"method": "GET"}), (405, {"method": "PUT"}), (405, {"method": "OPTIONS"})):
            got = server.ask(ping, **fields)
            equal(got[0], status, fields, got[2])
        equal(server.ask(b"garbage")[0], 400)
        equal(json.loads(server.ask(b"garbage")[2])["error"]["code"], -32700)
        equal(json.loads(server.ask(b"[]")[2])["error"]["code"], -32600)
        with socket.create_connection(("127.0.0.1", server.port), timeout=slow(10)) as raw:
            raw.sendall(f"POST /mcp HTTP/1.1\r\nHost: {own}\r\nAuthorization: Bearer {server.token}\r\nContent-Type: application/json\r\n"
                        f"Content-Length: {5 << 20}\r\n\r\n".encode())
            expect(raw.recv(100).startswith(b"HTTP/1.1 413"), "a body that is too long")
        server.end()
    refused = caller.verb("mcp", "serve", "--http", "0.0.0.0:7777")
    expect(refused.returncode != 0 and b"this machine" in refused.stderr, refused)


def sessions(caller):
    """C272: an id that was guessed, taken back or never given is no session."""
    with Server(caller) as server, Server(caller) as other:
        first, second = server.session(), server.session()
        expect(first != second and len(first) >= 32, first)
        equal(server.ask(request("ping"), Mcp_Session_Id=first)[0], 200)
        equal(server.ask(request("ping"))[0], 400)
        for stolen in ("x", first[:-1] + "x", first.upper() + "x", other.session()):
            equal(server.ask(request("ping"), Mcp_Session_Id=stolen)[0], 404, stolen)
            equal(server.ask(None, method="DELETE", Mcp_Session_Id=stolen)[0], 404, stolen)
        equal(server.ask(request("ping"), token=other.token, Mcp_Session_Id=first)[0], 401, "with a token that is none")
        equal(server.ask({"jsonrpc": "2.0", "method": "notifications/initialized"}, Mcp_Session_Id=first)[0], 202)
        equal(server.ask({"jsonrpc": "2.0", "method": "notifications/initialized"}, Mcp_Session_Id="x")[0], 404)
        equal(server.ask(None, method="DELETE", Mcp_Session_Id=first)[0], 204)
        equal(server.ask(request("ping"), Mcp_Session_Id=first)[0], 404, "after its end")
        equal(server.ask(request("ping"), Mcp_Session_Id=second)[0], 200, "the other goes on")
        status, _, body = server.ask(run("echo over http"), Mcp_Session_Id=second)
        equal((status, json.loads(body)["result"]["structuredContent"]["stdout"]), (200, "over http\n"))


def token_goes_no_further(caller):
    """C271: what opens the server is not passed on: no command has it, nor what a client says beside it."""
    look = "env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; true"
    with Server(caller) as server:
        message, head = modern(run(look))
        said = json.loads(server.ask(message, Cookie="session=stolen", X_Api_Key="another", **head)[2])["result"]["structuredContent"]["stdout"]
        expect("PATH=" in said, said)
        for word in (server.token, "stolen", "another", "Bearer"):
            expect(word not in said, word)
        # The counter-arm: a variable that is given is seen.
        message, head = modern(run(look, env={"GIVEN": server.token}))
        said = json.loads(server.ask(message, **head)[2])["result"]["structuredContent"]["stdout"]
        expect(f"GIVEN={server.token}" in said, said)
        # Of another server, and of another kind: neither opens it.
        with Server(caller) as other:
            for token in (other.token, f"cdnk_{server.token}", f"{server.token},{other.token}", f"{server.token} {server.token}"):
                equal(server.ask(request("ping"), token=token)[0], 401, token)


def headers_of_the_modern_era(caller):
    with Server(caller) as server:
        message, head = modern(run("echo modern"))
        status, answer, body = server.ask(message, **head)
        equal((status, json.loads(body)["result"]["structuredContent"]["stdout"]), (200, "modern\n"))
        expect("Mcp-Session-Id" not in answer, answer)
        equal(server.ask(message, **{**head, "Mcp_Name": "=?base64?cnVu?="})[0], 200)
        for wrong in ({"Mcp_Method": "tools/list"}, {"Mcp_Name": "diff"}, {"Mcp_Name": None}, {"Mcp_Method": None}, {"MCP_Protocol_Version": None},
                      {"MCP_Protocol_Version": "2025-11-25"}, {"Mcp_Name": "=?base64?!?="}):
            status, _, body = server.ask(message, **{**head, **wrong})
            equal((status, json.loads(body)["error"]["code"]), (400, -32020), wrong)
        message["params"]["_meta"][PREFIX + "protocolVersion"] = "2099-01-01"
        status, _, body = server.ask(message, **head)
        equal((status, json.loads(body)["error"]["code"]), (400, -32022))
        status, _, body = server.ask(request("tools/list"), MCP_Protocol_Version=VERSION)
        equal(status, 400, "a header without an envelope")


def events(body):
    return [json.loads(line[6:]) for line in body.decode().splitlines() if line.startswith("data: ")]


def streams(caller):
    """Progress and questions come before the answer, on the stream of the request."""
    with Server(caller) as server:
        session = server.session(FORM)
        message = run("sleep 4; echo done")
        message["params"]["_meta"] = {"progressToken": 7}
        status, head, body = server.ask(message, Mcp_Session_Id=session)
        equal((status, head["Content-Type"]), (200, "text/event-stream"))
        told = events(body)
        equal((told[0]["method"], told[0]["params"]["progressToken"]), ("notifications/progress", 7))
        equal(told[-1]["result"]["structuredContent"]["stdout"], "done\n")
        server.ask(run("echo x >landed"), Mcp_Session_Id=session)
        shown = json.loads(server.ask(request("tools/call", {"name": "diff", "arguments": {}}), Mcp_Session_Id=session)[2])["result"]["structuredContent"]
        connection = server.connect()
        connection.request("POST", "/mcp", json.dumps(request("tools/call", {"name": "apply", "arguments": {"expect": shown["expect"]}}, 9)),
                           {"Content-Type": "application/json", "Authorization": f"Bearer {server.token}", "Mcp-Session-Id": session})
        answer = connection.getresponse()
        while not (line := answer.readline()).startswith(b"data: "):
            expect(line, "it ended")
        question = json.loads(line[6:])
        equal(question["method"], "elicitation/create")
        said = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"decision": "apply"}}}
        other = server.session(FORM)
        equal(server.ask(said, Mcp_Session_Id=other)[0], 202)
        time.sleep(0.3)
        expect(not (caller.workspace / "landed").exists(), "another session has answered")
        equal(server.ask(said, Mcp_Session_Id=session)[0], 202)
        equal(events(answer.read())[-1]["result"]["structuredContent"]["applied"], ["landed"])
        equal((caller.workspace / "landed").read_text(), "x\n")


def client_that_leaves(caller):
    with Server(caller) as server:
        message, head = modern(run("sleep 1011"))
        connection = server.connect()
        connection.request("POST", "/mcp", json.dumps(message), {"Content-Type": "application/json", "Authorization": f"Bearer {server.token}",
                                                                 **{name.replace("_", "-"): value for name, value in head.items()}})

        def sleeps():
            return [pid for pid in descendants(server.child.pid) if name_of(pid) == "sleep"]
        end = time.monotonic() + slow(10)
        while not sleeps() and time.monotonic() < end:
            time.sleep(0.05)
        expect(sleeps(), "it runs")
        connection.sock.shutdown(socket.SHUT_RDWR)
        connection.close()
        while sleeps() and time.monotonic() < end:
            time.sleep(0.05)
        equal(sleeps(), [])
        server.ask(*[modern(run("sleep 1012", timeout_s=1))[0]], **modern(run(""))[1])
        expect(sleeps(), "one that lives on")
        server.end()
    equal(survivors(3), [])


def unix_socket_and_token_file(caller):
    token = caller.home / "token"
    token.write_text("t" * 40 + "\n")
    path = caller.home / "mcp.sock"
    with Server(caller, "--token-file", str(token), at=f"unix:{path}") as server:
        equal(server.token, None, "it is not printed")
        server.token = "t" * 40
        message, head = modern(run("echo unix"))
        equal(json.loads(server.ask(message, **head)[2])["result"]["structuredContent"]["stdout"], "unix\n")
        equal(server.ask(message, token="u" * 40, **head)[0], 401)
        server.end()
    expect(not path.exists(), "the socket is gone")
    token.write_text("short\n")
    expect(caller.verb("mcp", "serve", "--http", f"unix:{path}", "--token-file", str(token)).returncode != 0)


if __name__ == "__main__":
    main({act.__name__: act for act in (who_may_come_in, sessions, token_goes_no_further, headers_of_the_modern_era, streams, client_that_leaves, unix_socket_and_token_file)})
