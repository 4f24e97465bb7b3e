# SPDX-License-Identifier: Apache-2.0
# Children.

def place_descriptors(targets):
    """In a forked child: makes `targets`, number -> descriptor, the only ones open."""
    lifted = {number: fcntl.fcntl(fd, fcntl.F_DUPFD, 64) for number, fd in targets.items()}
    for number, fd in lifted.items():
        os.dup2(fd, number)
    try:
        opened = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        opened = range(4096)
    for fd in opened:
        if fd not in targets:
            try:
                os.close(fd)
            except OSError:
                pass


class Process:
    """A context's process and its pipes. `owner` hears of it: on_answer, on_output, on_exit.

    Output is decoded here, so that no character is split over two events.
    """

    def __init__(self, supervisor, language, start, answers_fd=ANSWERS_FD):
        """`start` runs in the child and does not return, or returns to end it."""
        self.supervisor = supervisor
        self.language = language
        self.owner = None
        self.count = 1
        self.closed = False
        self.unsent = bytearray()
        self.answers = bytearray()
        self.scanned = 0
        self.held = []          # [stream, text, ...] waiting for more of it
        self.held_size = 0
        self.timer = None
        pipes = []
        try:
            for _ in range(4):
                pipes.append(os.pipe())
            null = os.open("/dev/null", os.O_RDWR)
        except OSError:
            self.close_all(fd for pair in pipes for fd in pair)
            raise
        (out_r, out_w), (err_r, err_w), (cells_r, cells_w), (answers_r, answers_w) = pipes
        theirs = (null, out_w, err_w, cells_r, answers_w)
        try:
            self.pid = os.fork()
        except OSError:
            self.close_all((out_r, err_r, cells_w, answers_r) + theirs)
            raise
        if self.pid == 0:
            try:
                signal.set_wakeup_fd(-1)
                for number in (signal.SIGCHLD, signal.SIGTERM):
                    signal.signal(number, signal.SIG_DFL)
                os.setsid()
                place_descriptors({0: null, 1: out_w, 2: err_w, CELLS_FD: cells_r,
                                   answers_fd: answers_w})
                start()
            except BaseException:
                os.write(2, traceback.format_exc().encode())
            finally:
                os._exit(0)
        self.close_all(theirs)
        self.streams = {"stdout": out_r, "stderr": err_r}
        decoder = codecs.getincrementaldecoder("utf-8")
        self.decoders = {"stdout": decoder("replace"), "stderr": decoder("replace")}
        self.cells, self.answers_fd = cells_w, answers_r
        for fd in (out_r, err_r, cells_w, answers_r):
            os.set_blocking(fd, False)
        supervisor.processes[self.pid] = self
        self.reading = False
        self.read(not supervisor.congested)

    @staticmethod
    def close_all(fds):
        for fd in fds:
            os.close(fd)

    def read(self, wanted):
        """Begins or stops to listen: a host that does not read must hold its children back."""
        if wanted == self.reading or self.closed:
            return
        self.reading = wanted
        calls = {fd: lambda _, stream=stream: self.on_readable(stream)
                 for stream, fd in self.streams.items()}
        if self.answers_fd is not None:
            calls[self.answers_fd] = lambda _: self.on_answers()
        for fd, call in calls.items():
            if wanted:
                self.supervisor.selector.register(fd, selectors.EVENT_READ, call)
            else:
                self.supervisor.selector.unregister(fd)

    def send(self, data):
        if self.closed:
            return
        waiting = bool(self.unsent)
        self.unsent += data
        if not waiting and not self.write_some():
            self.supervisor.selector.register(self.cells, selectors.EVENT_WRITE, self.on_writable)

    def write_some(self):
        """Whether all is written. A child that closed its end is left to its exit."""
        try:
            while self.unsent:
                del self.unsent[:os.write(self.cells, memoryview(self.unsent)[:PIPE_READ])]
        except BlockingIOError:
            return False
        except OSError:
            self.unsent.clear()
        return True

    def on_writable(self, _):
        if not self.closed and self.write_some():
            self.supervisor.selector.unregister(self.cells)

    # Output.

    def on_readable(self, stream):
        if stream in self.streams and not self.closed:
            self.take(stream, PIPE_READ)

    def take(self, stream, size):
        """Reads once, at most `size`; 0 when there is nothing."""
        try:
            data = os.read(self.streams[stream], size)
        except BlockingIOError:
            return 0
        except OSError:
            data = b""
        if not data:
            fd = self.streams.pop(stream)
            if self.reading:
                self.supervisor.selector.unregister(fd)
            os.close(fd)
            return 0
        if self.owner is not None and self.owner.running is not None:
            self.hold(stream, self.decoders[stream].decode(data))
        return len(data)

    def hold(self, stream, text):
        if not text:
            return
        if self.held and self.held[0] != stream:
            self.flush()
        if not self.held:
            self.held.append(stream)
            if self.timer is None:
                self.timer = self.supervisor.after(GATHER_SECONDS, self.on_timer)
        self.held.append(text)
        self.held_size += len(text)
        if self.held_size >= GATHER_BYTES:
            self.flush()

    def on_timer(self):
        self.timer = None
        self.flush()

    def flush(self):
        if self.held:
            stream, text = self.held[0], "".join(self.held[1:])
            self.held, self.held_size = [], 0
            self.owner.on_output(stream, text)

    def drain(self):
        """Takes all output written so far, and no more: another process may go on writing."""
        for stream in list(self.streams):
            try:
                there = fcntl.ioctl(self.streams[stream], termios.FIONREAD, b"\0\0\0\0")
            except OSError:
                continue
            left = struct.unpack("i", there)[0]
            while left > 0 and stream in self.streams:
                got = self.take(stream, min(left, PIPE_READ))
                if not got:
                    break
                left -= got
        self.flush()

    def end_output(self):
        """After a cell: what remains of a broken character is its last output."""
        self.drain()
        for stream, decoder in self.decoders.items():
            self.hold(stream, decoder.decode(b"", True))
            decoder.reset()
        self.flush()
        if self.timer is not None:
            self.supervisor.cancel(self.timer)
            self.timer = None

    # Answers.

    def on_answers(self):
        """Reads once; whether more may follow."""
        if self.closed or self.answers_fd is None:
            return False
        try:
            data = os.read(self.answers_fd, 4 * PIPE_READ)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            if self.reading:
                self.supervisor.selector.unregister(self.answers_fd)
            os.close(self.answers_fd)
            self.answers_fd = None
            return False
        self.answers += data
        # What was printed before an event comes before it.
        if self.owner is not None and self.owner.running is not None:
            self.drain()
        while not self.closed:
            end = self.answers.find(b"\n", self.scanned)
            if end < 0:
                self.scanned = len(self.answers)
                break
            line = bytes(self.answers[:end])
            del self.answers[:end + 1]
            self.scanned = 0
            if self.owner is not None:
                self.owner.on_answer(self, line)
        if len(self.answers) > 2 * EVENT_LIMIT:
            self.answers.clear()
            self.kill()
        return not self.closed

    def signal(self, number):
        try:
            os.killpg(self.pid, number)
        except OSError:
            # The group is there only after the child's setsid.
            try:
                os.kill(self.pid, number)
            except OSError:
                pass

    def kill(self):
        self.signal(signal.SIGKILL)

    def on_exit(self, status):
        """The process is reaped. What it said last still counts."""
        for _ in range(256):
            if not self.on_answers():
                break
        owner = self.owner
        if owner is not None and owner.running is not None and owner.process is self:
            self.end_output()
        self.close()
        if owner is not None:
            owner.on_exit(self, status)

    def close(self):
        if self.closed:
            return
        self.read(False)
        self.closed = True
        if self.unsent:
            self.supervisor.selector.unregister(self.cells)
        self.close_all(list(self.streams.values()) + [self.cells])
        if self.answers_fd is not None:
            os.close(self.answers_fd)
        if self.timer is not None:
            self.supervisor.cancel(self.timer)


def start_program(path, arguments, env, cwd):
    """In a forked child: becomes another program. Python's own dispositions are undone."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.chdir(cwd)
    os.execve(path, arguments, env)
