# SPDX-License-Identifier: Apache-2.0
"""A client of `cordon mcp serve` over pipes that says exactly what a test wants said, in either era."""
import json
import os
import queue
import subprocess
import threading
import time

from pace import slow

VERSION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"


class Client:
    """A server as a child, and what it says: its lines in order, answers by their ids."""

    def __init__(self, caller, *flags, era="legacy", capabilities=None, begin=True):
        self.era, self.capabilities = era, {} if capabilities is None else capabilities
        self.child = subprocess.Popen(caller.words("mcp", "serve", *caller.wall(), *flags), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, cwd=caller.workspace, env=caller.environment(), start_new_session=True)
        self.last, self.answers, self.others, self.lines = 0, {}, [], queue.Queue()
        self.raw, self.err, self.paused = [], b"", threading.Event()
        self.paused.set()
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._read_errors, daemon=True).start()
        if begin and era == "legacy":
            self.initialized = self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": self.capabilities,
                                                       "clientInfo": {"name": "test", "version": "1"}})["result"]
            self.tell("notifications/initialized")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()

    def _read(self):
        for line in self.child.stdout:
            self.paused.wait()
            self.raw.append(line)
            self.lines.put(line)
        self.lines.put(None)

    def _read_errors(self):
        for line in self.child.stderr:
            self.err += line

    def send(self, line):
        """These bytes, and a newline."""
        self.child.stdin.write(line + b"\n")
        self.child.stdin.flush()

    def tell(self, method, params=None):
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params or {}}).encode())

    def begin(self, method, params=None, progress=None):
        """A request; gives its id."""
        self.last += 1
        params = dict(params or {})
        meta = {} if progress is None else {"progressToken": progress}
        if self.era == "modern":
            meta |= {PREFIX + "protocolVersion": VERSION, PREFIX + "clientInfo": {"name": "test", "version": "1"},
                     PREFIX + "clientCapabilities": self.capabilities}
        if meta:
            params["_meta"] = meta
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}).encode())
        return self.last

    def next(self, seconds=20):
        """The next message, whatever it is; every line has to be one."""
        line = self.lines.get(timeout=slow(seconds))
        if line is None:
            raise AssertionError(f"the server has ended: {self.err.decode(errors='replace')[-2000:]}")
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0", line
        return message

    def answer(self, number, seconds=60, on_request=None):
        """The answer to the request of that id. What else comes is kept; requests of the server go to `on_request`."""
        end = time.monotonic() + slow(seconds)
        while number not in self.answers:
            message = self.next(max(0.01, end - time.monotonic()))
            if "method" in message and "id" in message and on_request:
                self.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": on_request(message)}).encode())
            elif "method" in message or message["id"] is None:
                self.others.append(message)
            else:
                self.answers[message["id"]] = message
        return self.answers.pop(number)

    def ask(self, method, params=None, **how):
        return self.answer(self.begin(method, params), **how)

    def call(self, tool, arguments=None, more=None, **how):
        """The result of a call, or its error."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments or {}, **(more or {})}, **how)
        return answer.get("result") or answer["error"]

    def run(self, command, **arguments):
        """The structured result of `run`."""
        result = self.call("run", {"command": command, **arguments})
        assert "structuredContent" in result, result
        return result["structuredContent"]

    def end(self, seconds=20):
        """Closes its input; gives how long it took to end."""
        begin = time.monotonic()
        self.child.stdin.close()
        code = self.child.wait(timeout=slow(seconds))
        assert code == 0, (code, self.err.decode(errors="replace")[-3000:])
        return time.monotonic() - begin


def memory_of(pid):
    """Its resident bytes."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
