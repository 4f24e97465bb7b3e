# SPDX-License-Identifier: Apache-2.0
# Events, made in the context's process.

KEYS = {"text/plain": "text", "text/html": "html", "text/markdown": "markdown",
        "image/svg+xml": "svg", "image/png": "png", "image/jpeg": "jpeg",
        "application/pdf": "pdf", "text/latex": "latex", "application/json": "json",
        "application/javascript": "javascript", "e2b/data": "data", "e2b/chart": "chart"}


def plain_value(value):
    """What JSON can hold in place of `value`: for numpy and pandas scalars, dates and the like."""
    for method in ("isoformat", "tolist", "item"):
        if hasattr(value, method):
            return getattr(value, method)()
    return str(value)


def without_nan(value):
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {str(k): without_nan(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(v) for v in value]
    if value is None or isinstance(value, (str, int)):
        return value
    return without_nan(plain_value(value))


def to_json(value):
    """Pure-ASCII JSON. NaN and infinity, which JSON lacks, become null."""
    try:
        return json.dumps(value, allow_nan=False, default=plain_value)
    except (ValueError, TypeError):
        return json.dumps(without_nan(value), allow_nan=False)


def unquoted(text):
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text


def result_event(bundle, main):
    """The event for a MIME bundle: a dictionary from MIME type to text or bytes."""
    event, extra = {"type": "result"}, {}
    for mime, value in bundle.items():
        if value is None:
            continue
        if isinstance(value, (bytes, bytearray)):
            value = base64.b64encode(value).decode()
        if mime == "text/plain":
            value = unquoted(str(value))
        elif mime == "application/json" and isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                pass
        key = KEYS.get(mime)
        if key:
            event[key] = value
        else:
            extra[mime] = value
    if extra:
        event["extra"] = extra
    event["is_main_result"] = main
    return event


class Reporter:
    """Sends events to the supervisor, after all that was printed before them."""

    def __init__(self):
        self.fd = -1
        self.held = b""
        self.lock = threading.RLock()

    def event(self, event, hold=False):
        """With `hold` it goes together with the next line: one wake-up of the supervisor less."""
        try:
            line = b"e " + to_json(event).encode() + b"\n"
            words = "of %d bytes is larger than %d and was left out" % (len(line), EVENT_LIMIT)
        except Exception as error:  # an object of the user's may do anything when asked
            line, words = None, "could not be sent: %s" % safe_str(error)
        if line is None or len(line) > EVENT_LIMIT:
            line = b"e " + to_json(self.in_words(event, words)).encode() + b"\n"
        self.send(line, hold)

    @staticmethod
    def in_words(event, words):
        if event["type"] == "error":
            return dict(event, value=str(event["value"])[:4096], traceback="(a traceback %s)" % words)
        return {"type": "result", "text": "(a result %s)" % words,
                "is_main_result": event["is_main_result"]}

    def error(self, name, value, text):
        self.event({"type": "error", "name": name, "value": value, "traceback": text}, hold=True)

    def send(self, line, hold=False):
        # An interrupt between the pieces of a long line would leave half of it in the pipe.
        old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with self.lock:
                self.held += line
                if hold:
                    return
                self.flush_output()
                rest = memoryview(self.held)
                while rest:
                    rest = rest[os.write(self.fd, rest):]
                self.held = b""
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, old)

    @staticmethod
    def flush_output():
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            try:
                stream.flush()
            except Exception:  # the user may have put anything there, or closed it
                pass
