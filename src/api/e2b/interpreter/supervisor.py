# SPDX-License-Identifier: Apache-2.0
# The loop.

class Supervisor:
    def __init__(self, executor, reporter):
        self.executor = executor
        self.reporter = reporter
        self.selector = selectors.DefaultSelector()
        self.timers = []
        self.timer_number = 0
        self.processes = {}     # pid -> Process, until it is reaped
        self.contexts = {}      # id -> Context, in the order of their making
        self.defaults = {}      # language -> Context
        self.executions = {}    # id -> Execution, queued or running
        self.spares = {}        # language -> Process made ahead
        self.refilling = set()
        self.input = bytearray()
        self.output = bytearray()
        self.congested = False
        self.writing = False
        self.ended = False
        self.setup = None
        self.javascript = ""
        self.env = {}
        self.cwd = "/"

    def run(self):
        wake_r, wake_w = os.pipe()
        os.set_blocking(wake_r, False)
        os.set_blocking(wake_w, False)
        signal.set_wakeup_fd(wake_w, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: setattr(self, "ended", True))
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for fd in (0, 1):
            os.set_blocking(fd, False)
        self.selector.register(wake_r, selectors.EVENT_READ, lambda _: self.on_signal(wake_r))
        try:
            self.selector.register(0, selectors.EVENT_READ, lambda _: self.on_input())
        except PermissionError:     # a file or /dev/null: there is no host
            self.ended = True
        self.refill("python")
        self.answer(0, "ready", "{}")
        self.write_output()
        while not self.ended:
            for key, mask in self.selector.select(self.until_timer()):
                key.data(mask)
            self.run_timers()
            self.write_output()
        self.finish()

    def finish(self):
        for process in self.processes.values():
            process.kill()
        for pid in list(self.processes):
            try:
                os.waitpid(pid, 0)
            except OSError:
                pass

    # Timers.

    def after(self, seconds, call):
        self.timer_number += 1
        timer = [time.monotonic() + seconds, self.timer_number, call]
        heapq.heappush(self.timers, timer)
        return timer

    @staticmethod
    def cancel(timer):
        timer[2] = None

    def until_timer(self):
        while self.timers and self.timers[0][2] is None:
            heapq.heappop(self.timers)
        return max(0, self.timers[0][0] - time.monotonic()) if self.timers else None

    def run_timers(self):
        now = time.monotonic()
        while self.timers and self.timers[0][0] <= now:
            call = heapq.heappop(self.timers)[2]
            if call is not None:
                call()

    # To the host.

    def answer(self, number, kind, rest):
        self.output += b"%d %s " % (number, kind.encode())
        self.output += rest if isinstance(rest, bytes) else rest.encode()
        self.output += b"\n"

    def fail(self, number, status, text):
        line = " ".join(str(text).split())
        self.answer(number, "failed", "%d %s" % (status, line.encode("ascii", "backslashreplace").decode()))

    def write_output(self):
        try:
            while self.output:
                del self.output[:os.write(1, memoryview(self.output)[:4 * PIPE_READ])]
        except BlockingIOError:
            pass
        except OSError:
            self.ended = True
            return
        if bool(self.output) != self.writing:
            self.writing = bool(self.output)
            if self.writing:
                self.selector.register(1, selectors.EVENT_WRITE, lambda _: None)
            else:
                self.selector.unregister(1)
        size = len(self.output)
        if (size > CONGESTED) if not self.congested else (size < RELIEVED):
            self.congested = not self.congested
            for process in self.processes.values():
                process.read(not self.congested)

    # From the host.

    def on_input(self):
        try:
            data = os.read(0, 16 * PIPE_READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.take_input(data)
        else:
            self.ended = True

    def take_input(self, data):
        scanned = len(self.input)
        self.input += data
        end = self.input.find(b"\n", scanned)
        while end >= 0:
            line = bytes(self.input[:end])
            del self.input[:end + 1]
            self.on_line(line)
            end = self.input.find(b"\n")

    def on_line(self, line):
        number = None
        try:
            try:
                message = json.loads(line)
            except ValueError:
                found = re.search(rb'"id"\s*:\s*(\d{1,18})\b', line)
                number = int(found.group(1)) if found else None
                raise Refusal(400, "Malformed line")
            number = message.get("id") if isinstance(message, dict) else None
            if isinstance(number, bool) or not isinstance(number, int):
                number = None
            self.obey(message, number)
        except Refusal as refusal:
            if number is not None:
                self.fail(number, refusal.status, refusal)
            else:
                log("refused a line: %s" % refusal)
        except Exception as error:
            log("".join(traceback.format_exc()))
            if number is not None:
                self.fail(number, 500, "%s: %s" % (type(error).__name__, error))

    def obey(self, message, number):
        op = message.get("op") if isinstance(message, dict) else None
        if op == "setup":
            return self.on_setup(message)
        if number is None:
            raise Refusal(400, "No id")
        if op not in ("execute", "create", "list", "restart", "remove", "interrupt"):
            raise Refusal(400, "Unknown op %s" % json.dumps(op))
        if self.setup is None:
            raise Refusal(400, "Setup has not come yet")
        getattr(self, "on_" + op)(message, number)

    def on_setup(self, message):
        if self.setup is not None:
            raise Refusal(400, "Setup came twice")
        self.env = check_env(message.get("env"))
        self.javascript = message.get("javascript") or ""
        cwd = message.get("cwd") or "/"
        if not is_directory(cwd):
            log("%s is not a directory: contexts begin in /" % cwd)
            cwd = "/"
        self.cwd = cwd
        self.setup = message
        self.default("python").start()

    def default(self, language):
        context = self.defaults.get(language)
        if context is None:
            context = self.defaults[language] = Context(self, language, self.cwd)
            self.contexts[context.id] = context
        return context

    def language(self, name):
        language = "python" if name is None else str(name).lower()
        language = ALIASES.get(language, language)
        programs = {"bash": self.program("bash"), "javascript": self.program("node"), "python": True}
        if not programs.get(language):
            there = ", ".join(name for name, path in programs.items() if path)
            raise Refusal(400, "Language %s is not available in this sandbox; there are: %s"
                          % (language, there))
        return language

    def program(self, name):
        return shutil.which(name, path=self.env.get("PATH") or os.environ.get("PATH"))

    def context(self, name):
        context = self.contexts.get(name)
        if context is None:
            raise Refusal(404, "Context %s not found" % name)
        return context

    def on_execute(self, message, number):
        code, env = message.get("code"), check_env(message.get("env"))
        if not isinstance(code, str):
            raise Refusal(400, "No code")
        if number in self.executions:
            raise Refusal(400, "The id is in use")
        if message.get("context") is not None:
            context = self.context(message["context"])
        elif message.get("language") is not None:
            context = self.default(self.language(message["language"]))
        else:
            context = self.default("python")
        if context.language == "bash" and "\0" in code:
            raise Refusal(400, "A bash cell cannot hold a NUL character")
        context.add(Execution(number, code, env))
        self.refill_later(context.language)

    def on_create(self, message, number):
        language = self.language(message.get("language"))
        cwd = message.get("cwd") or self.cwd
        if not isinstance(cwd, str) or "\0" in cwd:
            raise Refusal(400, "cwd is not a path")
        cwd = os.path.join(self.cwd, cwd)
        if not is_directory(cwd):
            raise Refusal(400, "%s is not a directory" % cwd)
        context = Context(self, language, cwd)
        context.start()
        self.contexts[context.id] = context
        self.answer(number, "done", json.dumps(context.describe()))
        self.refill_later(language)

    def on_list(self, message, number):
        self.answer(number, "done", json.dumps([c.describe() for c in self.contexts.values()]))

    def on_restart(self, message, number):
        context = self.context(message.get("context"))
        context.stop("KernelRestarted", "The context was restarted; its state is lost")
        context.start()
        self.answer(number, "done", "{}")
        self.refill_later(context.language)

    def on_remove(self, message, number):
        context = self.context(message.get("context"))
        context.stop("ContextRemoved", "The context was removed")
        del self.contexts[context.id]
        if self.defaults.get(context.language) is context:
            del self.defaults[context.language]
        self.answer(number, "done", "{}")

    def on_interrupt(self, message, number):
        execution = self.executions.get(number)
        if execution is not None:       # else it has just ended
            execution.context.interrupt(execution)

    # Processes.

    def on_signal(self, fd):
        try:
            os.read(fd, PIPE_READ)
        except BlockingIOError:
            pass
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if ended is None:
                return
            process = self.processes.pop(ended.si_pid, None)
            if process is not None:
                process.kill()      # the rest of its group, while the number is still its own
            _, status = os.waitpid(ended.si_pid, 0)
            if process is not None:     # else an orphan that fell to us
                for language, spare in list(self.spares.items()):
                    if spare is process:
                        del self.spares[language]
                process.on_exit(status)

    def spawn(self, language, cwd):
        """A process for a context. One for Python or JavaScript waits for its `begin`."""
        env = dict(os.environ, **self.env)
        if language == "python":
            return Process(self, language, lambda: PythonContext(self.executor, self.reporter).serve())
        if language == "javascript":
            path = self.program("node") or "node"
            words = ["node", "--expose-internals", "-e", self.javascript]
            return Process(self, language, lambda: start_program(path, words, env, cwd))
        path = self.program("bash") or "bash"
        words = ["bash", "--norc", "--noprofile", "/dev/fd/%d" % CELLS_FD]
        process = Process(self, language, lambda: start_program(path, words, env, cwd), BASH_ANSWERS_FD)
        process.send(BASH_BEGIN.encode())
        return process

    def take_process(self, language, cwd):
        if not is_directory(cwd):
            log("%s is gone: a context begins in /" % cwd)
            cwd = "/"
        process = self.spares.pop(language, None) or self.spawn(language, cwd)
        if language != "bash":
            process.send(json.dumps({"env": self.env, "cwd": cwd}).encode() + b"\n")
        return process

    def refill_later(self, language):
        """Makes the next context's process ahead, once the present one had its turn."""
        if language != "bash" and language not in self.spares and language not in self.refilling:
            self.refilling.add(language)
            self.after(0.1 if language == "python" else 0.3, lambda: self.refill(language))

    def refill(self, language):
        self.refilling.discard(language)
        if language in self.spares:
            return
        try:
            self.spares[language] = self.spawn(language, self.cwd)
        except OSError as error:
            log("no spare process for %s: %s" % (language, error))


def check_env(env):
    if env is None:
        return {}
    if not isinstance(env, dict):
        raise Refusal(400, "env is not an object")
    for name, value in env.items():
        if not isinstance(value, str) or not name or "=" in name or "\0" in name + value:
            raise Refusal(400, "The environment variable %s cannot be set" % json.dumps(name))
    return env


def is_directory(path):
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def main():
    # Nothing imported here may print to the host's pipe: fd 1 is ours until the loop begins.
    host = os.dup(1)
    os.dup2(2, 1)
    reporter = Reporter()
    executor = make_executor(reporter)
    sys.stdout.flush()
    os.dup2(host, 1)
    os.close(host)
    # What lives now lives as long as we do; counting it again in each child would copy its pages.
    gc.collect()
    gc.freeze()
    Supervisor(executor, reporter).run()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
