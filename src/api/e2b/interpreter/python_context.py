# SPDX-License-Identifier: Apache-2.0
# A Python context's process.

USER_SITE = {"path": None}


def add_user_site():
    """Isolated mode leaves out ~/.local, where pip installs for a user: in a context it belongs."""
    path = USER_SITE["path"]
    if path and os.path.isdir(path):
        site.addsitedir(path)
        USER_SITE["path"] = None


class PythonContext:
    """What a forked child does for its whole life. Its descriptors are in place already."""

    def __init__(self, executor, reporter):
        self.executor = executor
        self.reporter = reporter
        self.pid = os.getpid()

    def serve(self):
        self.reporter.fd = ANSWERS_FD
        for fd in (CELLS_FD, ANSWERS_FD):
            os.set_inheritable(fd, False)
        sys.stdin = sys.__stdin__ = open(0, closefd=False)
        sys.stdout = sys.__stdout__ = self.stream(1)
        sys.stderr = sys.__stderr__ = self.stream(2)
        signal.signal(signal.SIGINT, self.ignore)
        cells = open(CELLS_FD, "rb", closefd=False)
        self.begin(json.loads(cells.readline()))
        while True:
            try:
                line = cells.readline()
                if not line:
                    return
                self.cell(json.loads(line))
            except KeyboardInterrupt:
                # One that arrived between the cell's end and our handler: it has no cell.
                pass

    @staticmethod
    def stream(fd):
        # Whole lines go out at once, so they keep their order with what subprocesses write.
        return io.TextIOWrapper(io.BufferedWriter(io.FileIO(fd, "w", closefd=False)), "utf-8",
                                errors="backslashreplace", line_buffering=True)

    @staticmethod
    def ignore(number, frame):
        """Not SIG_IGN, which programs started by a background thread would inherit."""

    def begin(self, message):
        """Takes on the sandbox's environment: known only now, for a child made ahead."""
        os.environ.update(message["env"])
        os.chdir(message["cwd"])
        if "TZ" in message["env"]:
            time.tzset()
        # Here and not at the fork: a machine may be copied while it waits for its first user.
        random.seed()
        numpy_random = sys.modules.get("numpy.random")
        if numpy_random is not None:
            numpy_random.seed()
        sys.argv = [""]
        sys.modules["__main__"] = self.executor.main
        sys.path[0:0] = [""] + [p for p in os.environ.get("PYTHONPATH", "").split(":") if p]
        site.USER_SITE = site.USER_BASE = None      # computed for the home before
        USER_SITE["path"] = site.getusersitepackages()

    def cell(self, message):
        add_user_site()
        env = message.get("env") or {}
        before = {name: os.environ.get(name) for name in env}
        os.environ.update(env)
        try:
            try:
                # The default one, for asyncio looks for exactly it.
                signal.signal(signal.SIGINT, signal.default_int_handler)
                self.executor.run(message["code"])
            finally:
                signal.signal(signal.SIGINT, self.ignore)
        except BaseException as error:
            text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            self.reporter.error(type(error).__name__, safe_str(error), text)
        if os.getpid() != self.pid:
            os._exit(0)     # a fork of the user's that ran out of its cell
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self.reporter.send(b"d %d\n" % self.executor.count())
