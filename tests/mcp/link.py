# SPDX-License-Identifier: Apache-2.0
"""A client of `cordon mcp wrap` that says lines as they are, and hears them as they are."""
import json
import pathlib
import queue
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "callers"))

from pace import slow  # noqa: E402

HOSTILE = (HERE / "hostile_server.py").read_text()
INITIALIZE = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":%s,"clientInfo":{"name":"x","version":"1"}}}'


class Link:
    """A context. `command`: a server of its own, else the hostile one with these words."""

    def __init__(self, caller, flags=("--allow-tool", "*"), *words, command=None, wrapped=True, capabilities="{}", environment=None,
                 name="x"):
        (caller.workspace / "server.py").write_text(HOSTILE)
        server = command or ["python3", "server.py", *words]
        self.report = caller.home / "wrap.json"
        line = caller.words("mcp", "wrap", "--name", name, "--json", str(self.report), *caller.wall(), *flags, "--", *server) if wrapped else [*caller.become(), *server]
        self.child = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=caller.workspace,
                                      env={**caller.environment(), **(environment or {})}, start_new_session=True)
        self.lines = queue.Queue()
        self.heard, self.err = [], b""
        self.threads = [threading.Thread(target=self._hear, daemon=True), threading.Thread(target=self._hear_errors, daemon=True)]
        for thread in self.threads:
            thread.start()
        self.capabilities = capabilities
        self.identity = 100

    def _hear(self):
        for line in self.child.stdout:
            self.heard.append(line)
            self.lines.put(line)
        self.lines.put(None)

    def _hear_errors(self):
        for line in self.child.stderr:
            self.err += line

    def __enter__(self):
        self.say(INITIALIZE % self.capabilities)
        self.hear()
        self.say('{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return self

    def __exit__(self, *_):
        self.end()

    def say(self, line):
        self.child.stdin.write(line.encode() + b"\n" if isinstance(line, str) else line + b"\n")
        self.child.stdin.flush()

    def hear(self, timeout=20):
        """The next line, as it is."""
        line = self.lines.get(timeout=slow(timeout))
        if line is None:
            raise AssertionError(f"the link has ended: {self.err!r}")
        return line

    def ask(self, method, params=None):
        """The answer to a request, as it is read."""
        self.identity += 1
        self.say(json.dumps({"jsonrpc": "2.0", "id": self.identity, "method": method, "params": params or {}}))
        answer = json.loads(self.hear())
        assert answer["id"] == self.identity, answer
        return answer

    def call(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def text(self, tool, **arguments):
        """What a call answers; one that Cordon refused, its code."""
        result = self.call(tool, **arguments)["result"]
        if "_meta" in result:
            return result["_meta"]["cordon/denial"]["code"]
        return result["content"][0]["text"]

    def tools(self):
        return [tool["name"] for tool in self.ask("tools/list")["result"]["tools"]]

    def end(self):
        """Its exit code; 20 seconds are enough for any end."""
        if not self.child.stdin.closed:
            try:
                self.child.stdin.close()
            except BrokenPipeError:
                pass
        try:
            code = self.child.wait(slow(20))
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
            raise
        for thread in self.threads:
            thread.join(5)
        return code
