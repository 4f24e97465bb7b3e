# SPDX-License-Identifier: Apache-2.0
# Contexts.

class Refusal(Exception):
    """Ends a request with `failed`."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class Execution:
    def __init__(self, number, code, env):
        self.id = number
        self.code = code
        self.env = env
        self.context = None
        self.interrupted = False
        self.killed_because = None
        self.timer = None


class Context:
    """A context, its queue, and the process that runs its cells; None until a cell needs one."""

    def __init__(self, supervisor, language, cwd):
        self.supervisor = supervisor
        self.id = str(uuid.uuid4())
        self.language = language
        self.cwd = cwd
        self.process = None
        self.queue = collections.deque()
        self.running = None

    def describe(self):
        return {"id": self.id, "language": self.language, "cwd": self.cwd}

    def start(self):
        try:
            self.process = self.supervisor.take_process(self.language, self.cwd)
        except OSError as error:
            raise Refusal(503, "No process for the context: %s" % error)
        self.process.owner = self

    def add(self, execution):
        execution.context = self
        self.supervisor.executions[execution.id] = execution
        self.queue.append(execution)
        self.advance()

    def advance(self):
        while self.running is None and self.queue:
            execution = self.queue.popleft()
            try:
                if self.process is None:
                    self.start()
            except Refusal as refusal:
                self.supervisor.executions.pop(execution.id, None)
                self.supervisor.fail(execution.id, refusal.status, refusal)
                continue
            self.running = execution
            self.event({"type": "number_of_executions", "execution_count": self.process.count})
            if self.language == "bash":
                self.process.send(bash_cell(execution.code, execution.env))
            else:
                cell = json.dumps({"code": execution.code, "env": execution.env})
                self.process.send(cell.encode() + b"\n")

    def event(self, event):
        self.supervisor.answer(self.running.id, "event", json.dumps(event))

    def on_output(self, stream, text):
        if self.running is not None:
            self.event({"type": stream, "text": text, "timestamp": timestamp()})

    def on_answer(self, process, line):
        if process is not self.process or self.running is None:
            return
        if line[:2] == b"e " and line.isascii():
            self.supervisor.answer(self.running.id, "event", line[2:])
        elif line[:2] == b"d ":
            try:
                number = int(line[2:])
            except ValueError:
                return
            process.end_output()
            if self.language == "bash":
                process.count += 1
                self.report_status(number)
            else:
                process.count = number
            self.end()

    def report_status(self, status):
        if self.running.interrupted:
            self.error("Interrupted", "The cell was interrupted")
        elif status != 0:
            self.error("CommandFailed", "exit status %d" % status)

    def error(self, name, value):
        self.event({"type": "error", "name": name, "value": value, "traceback": "%s: %s" % (name, value)})

    def end(self):
        execution, self.running = self.running, None
        supervisor = self.supervisor
        if execution.timer is not None:
            supervisor.cancel(execution.timer)
        supervisor.executions.pop(execution.id, None)
        supervisor.answer(execution.id, "event", '{"type": "end_of_execution"}')
        supervisor.answer(execution.id, "done", "{}")
        self.advance()

    def on_exit(self, process, status):
        if process is not self.process:
            return
        self.process = None
        if self.running is None:
            return
        exited = os.WIFEXITED(status)
        if self.running.killed_because:
            self.error("KernelDied", self.running.killed_because)
        elif self.language == "bash" and exited:
            self.report_status(os.WEXITSTATUS(status))     # `exit` in a cell
        elif exited:
            self.error("KernelDied", "The context's process exited with status %d; its state is lost"
                       % os.WEXITSTATUS(status))
        else:
            number = os.WTERMSIG(status)
            try:
                name = signal.Signals(number).name
            except ValueError:
                name = "unnamed"
            hint = ", perhaps for want of memory" if number == signal.SIGKILL else ""
            self.error("KernelDied", "The context's process was ended by signal %d (%s)%s; its state "
                       "is lost" % (number, name, hint))
        self.end()

    def interrupt(self, execution):
        """The client has left. A queued cell never runs; a running one gets SIGINT, then SIGKILL."""
        if execution is not self.running:
            self.queue.remove(execution)
            self.supervisor.executions.pop(execution.id, None)
            self.supervisor.fail(execution.id, 499, "Interrupted before it began")
        elif not execution.interrupted:
            execution.interrupted = True
            self.press(execution, time.monotonic() + INTERRUPT_GRACE)

    def press(self, execution, deadline):
        if self.running is not execution or self.process is None:
            return
        if time.monotonic() >= deadline:
            execution.killed_because = ("The cell did not end within %g s of its interrupt; the "
                                        "context's process was killed and its state is lost"
                                        % INTERRUPT_GRACE)
            self.process.kill()
        else:
            self.process.signal(signal.SIGINT)
            execution.timer = self.supervisor.after(
                INTERRUPT_AGAIN, lambda: self.press(execution, deadline))

    def stop(self, name, value):
        """Ends the process and, with an error in these words, every execution."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            if self.running is not None:
                process.end_output()
            process.close()
        queued, self.queue = list(self.queue), collections.deque()
        for execution in ([self.running] if self.running is not None else []) + queued:
            self.running = execution
            self.error(name, value)
            self.end()


def timestamp():
    now = time.time()
    return "%s.%03dZ" % (time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)), now % 1 * 1000)
