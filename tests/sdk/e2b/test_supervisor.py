# SPDX-License-Identifier: Apache-2.0
"""Tests of the supervisor, as the host meets it: a subprocess and two pipes.

  python3 test_supervisor.py [PYTHON]     PYTHON runs the supervisor; the one running this by default
"""
import base64
import json
import os
import pathlib
import random
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
# Taken at once, for what is skipped below depends on it.
NAMED = __name__ == "__main__" and len(sys.argv) > 1 and shutil.which(sys.argv[1])
PYTHON = sys.argv.pop(1) if NAMED else sys.executable
PARTS = HERE.parent.parent.parent / "src/api/e2b/interpreter"
ORDER = re.search(r"foreach\(part ([^)]*)\)", (PARTS.parent.parent / "CMakeLists.txt").read_text()).group(1).split()     # as the binary has them
SOURCE = "".join((PARTS / name).read_text() for name in ORDER if name.endswith(".py"))
KERNEL = (PARTS / "javascript.cjs").read_text()
PATIENCE = 60       # seconds until an answer that does not come fails its test
WITHOUT = "import sys\nfor name in ('IPython', 'matplotlib'): sys.modules[name] = None\n"


def has(module):
    return subprocess.run([PYTHON, "-I", "-c", "import " + module], capture_output=True).returncode == 0


class Host:
    """One supervisor and the host's side of its pipes. Reads only when asked to."""

    def __init__(self, before="", home=None, setup=True):
        self.work = tempfile.mkdtemp(prefix="supervisor-test-")
        home = home or self.work
        env = {"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": self.work, "LANG": "C.UTF-8",
               "MPLCONFIGDIR": MPL_CACHE}
        self.process = subprocess.Popen([PYTHON, "-I", "-c", before + SOURCE], env=env, cwd=self.work,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.pending = b""
        self.lines = {}     # id -> [(kind, rest)]
        self.last = 0
        self.next_line()
        assert self.lines == {0: [("ready", "{}")]}, self.lines
        if setup:
            self.setup()

    def setup(self):
        self.send(op="setup", javascript=KERNEL, env={"SANDBOX_WORD": "from-setup"}, cwd=self.work)

    def close(self):
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()
        code = self.process.wait(PATIENCE)
        self.process.stdout.close()
        shutil.rmtree(self.work, ignore_errors=True)
        return code

    def send(self, **message):
        self.send_raw(json.dumps(message).encode() + b"\n")

    def send_raw(self, data):
        while data:
            data = data[os.write(self.process.stdin.fileno(), data):]

    def next_line(self):
        deadline = time.monotonic() + PATIENCE
        while b"\n" not in self.pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise AssertionError("no line within %d s; so far %r" % (PATIENCE, self.lines))
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            if not data:
                raise AssertionError("the supervisor has ended")
            self.pending += data
        line, _, self.pending = self.pending.partition(b"\n")
        assert line.isascii(), line
        number, kind, rest = line.decode().split(" ", 2)
        self.lines.setdefault(int(number), []).append((kind, rest))
        return int(number), kind, rest

    def ask(self, op, **rest):
        self.last += 1
        self.send(op=op, id=self.last, **rest)
        return self.last

    def execute(self, code, **rest):
        return self.ask("execute", code=code, **rest)

    def wait(self, number):
        """All lines of an id, once its last has come."""
        while not any(kind in ("done", "failed") for kind, _ in self.lines.get(number, ())):
            self.next_line()
        return self.lines[number]

    def wait_for(self, number, word):
        """Until an event of this id holds `word`."""
        while not any(word in rest for _, rest in self.lines.get(number, ())):
            self.next_line()

    def answer(self, op, **rest):
        kind, text = self.wait(self.ask(op, **rest))[-1]
        return (kind, json.loads(text)) if kind == "done" else (kind, text)

    def run(self, code, **rest):
        return Cell(self.wait(self.execute(code, **rest)))

    def descendants(self):
        found, todo = [], [self.process.pid]
        while todo:
            try:
                text = pathlib.Path("/proc/%d/task/%d/children" % ((todo[0],) * 2)).read_text()
            except OSError:
                text = ""
            found += [int(word) for word in text.split()]
            todo = todo[1:] + [int(word) for word in text.split()]
        return found


class Cell:
    """The events of one execution."""

    def __init__(self, lines):
        self.failed = lines[-1][1] if lines[-1][0] == "failed" else None
        self.events = [json.loads(rest) for kind, rest in lines if kind == "event"]
        self.results = self.of("result")
        self.stdout = "".join(e["text"] for e in self.of("stdout"))
        self.stderr = "".join(e["text"] for e in self.of("stderr"))
        self.error = (self.of("error") or [None])[0]
        main = [e for e in self.results if e["is_main_result"]]
        self.text = main[0].get("text") if main else None

    def of(self, kind):
        return [e for e in self.events if e["type"] == kind]

    def types(self):
        return [e["type"] for e in self.events]


def is_alive(pid):
    try:
        return pathlib.Path("/proc/%d/stat" % pid).read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def gone(pids):
    deadline = time.monotonic() + PATIENCE
    while any(is_alive(pid) for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


class Served(unittest.TestCase):
    before = ""

    @classmethod
    def setUpClass(cls):
        cls.host = Host(cls.before)

    @classmethod
    def tearDownClass(cls):
        cls.host.close()

    def run_cell(self, code, **rest):
        return self.host.run(code, **rest)

    def make(self, **rest):
        kind, body = self.host.answer("create", **rest)
        self.assertEqual(kind, "done", body)
        self.addCleanup(lambda: self.host.answer("remove", context=body["id"]))
        return body["id"]


class Python:
    """What holds with IPython and without."""

    def test_the_whole_conversation_of_a_cell(self):
        context = self.make()
        lines = self.host.wait(self.host.execute("1+1", context=context))
        self.assertEqual([kind for kind, _ in lines], ["event"] * 3 + ["done"])
        self.assertEqual([json.loads(rest) for _, rest in lines], [
            {"type": "number_of_executions", "execution_count": 1},
            {"type": "result", "text": "2", "is_main_result": True},
            {"type": "end_of_execution"}, {}])
        again = self.run_cell("None", context=context)
        self.assertEqual(again.events[0]["execution_count"], 2)
        self.assertEqual(again.types(), ["number_of_executions", "end_of_execution"])

    def test_state_stays_in_its_context(self):
        self.run_cell("kept = 41")
        self.assertEqual(self.run_cell("kept + 1").text, "42")
        self.assertEqual(self.run_cell("kept", context=self.make()).error["name"], "NameError")

    def test_a_string_loses_one_pair_of_quotes(self):
        self.assertEqual(self.run_cell("'a\"b'").text, "a\"b")
        self.assertEqual(self.run_cell("\"'\"").text, "'")

    def test_output_of_every_kind_in_order(self):
        cell = self.run_cell("import os, subprocess, sys\nprint('one')\nos.write(1, b'two\\n')\n"
                             "subprocess.run(['echo', 'three'])\nprint('four')\nos.write(2, b'bad\\n');")
        self.assertEqual(cell.stdout, "one\ntwo\nthree\nfour\n")
        self.assertEqual(cell.stderr, "bad\n")
        for event in cell.of("stdout"):
            self.assertRegex(event["timestamp"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$")

    def test_output_comes_while_the_cell_runs(self):
        number = self.host.execute("print('early')\nimport time\nwhile True: time.sleep(0.05)")
        self.host.wait_for(number, "early")
        self.host.send(op="interrupt", id=number)
        self.assertEqual(Cell(self.host.wait(number)).error["name"], "KeyboardInterrupt")

    def test_a_character_is_never_split(self):
        cell = self.run_cell("import os, time\nfor b in '\u20ac\U0001f600'.encode():\n"
                             "    os.write(1, bytes([b])); time.sleep(0.03)")
        self.assertEqual(cell.stdout, "\u20ac\U0001f600")

    def test_output_that_is_not_text(self):
        self.assertEqual(self.run_cell("import os\nos.write(1, b'a\\xff\\xe2');").stdout, "a\ufffd\ufffd")
        self.assertEqual(self.run_cell("print('clean')").stdout, "clean\n")
        self.assertEqual(self.run_cell("print('\\udc80')").stdout, "\\udc80\n")

    def test_printed_before_display_comes_before(self):
        cell = self.run_cell("print('a')\ndisplay(7)\nprint('b')")
        self.assertEqual(cell.types()[1:3], ["stdout", "result"])
        self.assertEqual(cell.stdout, "a\nb\n")
        self.assertFalse(cell.results[0]["is_main_result"])

    def test_much_output(self):
        cell = self.run_cell("for i in range(60000): print(i, 'x' * 40)")
        self.assertEqual(cell.stdout, "".join("%d %s\n" % (i, "x" * 40) for i in range(60000)))

    def test_a_large_result_and_one_too_large(self):
        self.assertEqual(len(self.run_cell("'y' * 3000000").text), 3000000)
        self.assertIn("larger than", self.run_cell("'y' * 20000000").text)

    def test_rich_results(self):
        cell = self.run_cell(
            "class Rich:\n"
            "  def __repr__(self): return 'rich'\n"
            "  def _repr_html_(self): return '<b>h</b>'\n"
            "  def _repr_markdown_(self): return '*m*'\n"
            "  def _repr_svg_(self): return '<svg/>'\n"
            "  def _repr_png_(self): return b'PNG'\n"
            "  def _repr_jpeg_(self): return b'JPEG'\n"
            "  def _repr_pdf_(self): return b'PDF'\n"
            "  def _repr_latex_(self): return '$l$'\n"
            "  def _repr_json_(self): return {'a': [1, float('nan')]}\n"
            "  def _repr_javascript_(self): return 'j()'\n"
            "Rich()")
        code = lambda data: base64.b64encode(data).decode()  # noqa: E731
        self.assertEqual(cell.results, [{
            "type": "result", "text": "rich", "html": "<b>h</b>", "markdown": "*m*", "svg": "<svg/>",
            "png": code(b"PNG"), "jpeg": code(b"JPEG"), "pdf": code(b"PDF"), "latex": "$l$",
            "json": {"a": [1, None]}, "javascript": "j()", "is_main_result": True}])

    def test_a_frame_gives_its_data(self):
        # A stand-in with what we use of pandas, which need not be installed.
        cell = self.run_cell(
            "import sys, types\npandas = sys.modules['pandas'] = types.ModuleType('pandas')\n"
            "class Column(list):\n  def tolist(self): return list(self)\n"
            "class DataFrame:\n  columns = ['a', 7]\n  @property\n  def iloc(self): return self\n"
            "  def __getitem__(self, at): return Column([[1, 2], [0.5, float('inf')]][at[1]])\n"
            "pandas.DataFrame = DataFrame\nDataFrame()", context=self.make())
        self.assertEqual(cell.results[0]["data"], {"a": [1, 2], "7": [0.5, None]})

    def test_errors(self):
        error = self.run_cell("def f():\n    raise ValueError('w\u00f6rd')\nf()").error
        self.assertEqual((error["name"], error["value"]), ("ValueError", "w\u00f6rd"))
        self.assertRegex(re.sub(r"\x1b\[[0-9;]*m", "", error["traceback"]), r"(?s)f\(\).*raise ValueError")
        self.assertNotIn("supervisor", error["traceback"])
        self.assertEqual(self.run_cell("def f(:").error["name"], "SyntaxError")
        self.assertEqual(self.run_cell("class E(Exception):\n  def __str__(self): 1/0\nraise E").error["name"], "E")

    def test_leaving_does_not_end_the_context(self):
        self.run_cell("kept = 5")
        for way in ("exit()", "quit(0)", "import sys; sys.exit(3)", "raise SystemExit"):
            self.assertEqual(self.run_cell(way).error["name"], "SystemExit", way)
        self.assertEqual(self.run_cell("kept").text, "5")

    def test_await_at_the_top(self):
        cell = self.run_cell("import asyncio\nasync def f():\n  await asyncio.sleep(0.01)\n  return 9\nawait f()")
        self.assertEqual(cell.text, "9")

    def test_the_child_stands_alone(self):
        cell = self.run_cell("import os\nprint(os.getpid() == os.getsid(0) == os.getpgid(0), __name__)\n"
                             "print(sorted(f for f in os.listdir('/proc/self/fd') if int(f) > 4))", context=self.make())
        # The listing itself has one descriptor open.
        self.assertRegex(cell.stdout, r"^True __main__\n\['\d+'\]\n$")
        # Nor has a program it starts more than its three and the listing's own.
        self.assertEqual(self.run_cell("import os; os.system('ls /proc/self/fd');").stdout, "0\n1\n2\n3\n")
        self.assertEqual(self.run_cell("input()").error["name"], "EOFError")

    def test_environment_and_directory(self):
        ask = "import os\n(os.environ.get('SANDBOX_WORD'), os.environ.get('ONCE'), os.getcwd())"
        work = self.host.work
        self.assertEqual(self.run_cell(ask, env={"ONCE": "1", "SANDBOX_WORD": "other"}).text,
                         str(("other", "1", work)))
        self.assertEqual(self.run_cell(ask).text, str(("from-setup", None, work)))
        below = os.path.join(work, "below")
        os.makedirs(below, exist_ok=True)
        self.assertEqual(self.run_cell(ask, context=self.make(cwd=below)).text,
                         str(("from-setup", None, below)))
        self.assertEqual(self.host.answer("create", cwd="/nowhere"), ("failed", "400 /nowhere is not a directory"))
        self.assertTrue(self.run_cell("1", env={"A=B": "x"}).failed.startswith("400 "))

    def test_modules_beside_the_user(self):
        pathlib.Path(self.host.work, "beside.py").write_text("word = 'found'")
        self.assertEqual(self.run_cell("import beside; beside.word").text, "found")

    def test_a_queue_keeps_its_order(self):
        numbers = [self.host.execute("import time; time.sleep(0.02); q = globals().get('q', []) + [%d]; q" % i)
                   for i in range(5)]
        cells = [Cell(self.host.wait(n)) for n in numbers]
        self.assertEqual(cells[-1].text, "[0, 1, 2, 3, 4]")
        self.run_cell("del q")

    def test_contexts_run_beside_each_other(self):
        one, two = self.make(), self.make()
        os.mkfifo(os.path.join(self.host.work, "fifo"))
        # The first cannot end before the second has run.
        first = self.host.execute("open('fifo').read()", context=one)
        second = self.host.execute("open('fifo', 'w').write('met');", context=two)
        self.host.wait(second)
        self.assertEqual(Cell(self.host.wait(first)).text, "met")

    def test_chance_differs_between_contexts(self):
        ask = "import random; random.random()"
        self.assertEqual(len({self.run_cell(ask, context=self.make()).text for _ in range(3)}), 3)

    def test_interrupts(self):
        self.run_cell("kept = 6")
        for busy in ("while True: pass", "import time; time.sleep(1000)",
                     "import os; os.system('sleep 1000'); time.sleep(1000)"):
            number = self.host.execute("print('in')\n" + busy)
            self.host.wait_for(number, '"in')
            self.host.send(op="interrupt", id=number)
            cell = Cell(self.host.wait(number))
            self.assertEqual(cell.error["name"], "KeyboardInterrupt", busy)
            self.assertEqual(cell.types()[-1], "end_of_execution")
        self.assertEqual(self.run_cell("kept").text, "6")

    def test_an_interrupt_that_is_not_obeyed(self):
        context = self.make()
        number = self.host.execute("import signal, time\nsignal.signal(2, signal.SIG_IGN)\nprint('in')\n"
                                   "while True: time.sleep(0.1)", context=context)
        self.host.wait_for(number, '"in')
        begun = time.monotonic()
        self.host.send(op="interrupt", id=number)
        cell = Cell(self.host.wait(number))
        self.assertGreater(time.monotonic() - begun, 1.9)
        self.assertEqual(cell.error["name"], "KernelDied")
        self.assertIn("interrupt", cell.error["value"])
        self.assertEqual(self.run_cell("2", context=context).text, "2")

    def test_an_interrupt_in_the_queue(self):
        context = self.make()
        first = self.host.execute("print('in')\nimport time\nwhile True: time.sleep(0.05)", context=context)
        second = self.host.execute("ran = 1", context=context)
        self.host.wait_for(first, '"in')
        self.host.send(op="interrupt", id=second)
        self.assertEqual(self.host.wait(second), [("failed", "499 Interrupted before it began")])
        self.host.send(op="interrupt", id=first)
        self.host.wait(first)
        self.assertEqual(self.run_cell("ran", context=context).error["name"], "NameError")
        self.host.send(op="interrupt", id=first)        # long ended: nobody minds
        self.assertEqual(self.run_cell("3", context=context).text, "3")

    def test_a_death(self):
        context = self.make()
        for way, words in (("os._exit(4)", "status 4"), ("os.kill(os.getpid(), 9)", "memory"),
                           ("os.kill(os.getpid(), 11)", "SIGSEGV")):
            cell = self.run_cell("import os\nprint('last words', flush=True)\n" + way, context=context)
            self.assertEqual(cell.stdout, "last words\n")
            self.assertEqual(cell.error["name"], "KernelDied")
            self.assertIn(words, cell.error["value"])
            self.assertEqual(cell.types()[-1], "end_of_execution")
            fresh = self.run_cell("1", context=context)
            self.assertEqual((fresh.text, fresh.events[0]["execution_count"]), ("1", 1))

    def test_a_death_takes_its_children_and_not_the_queue(self):
        context = self.make()
        pid = int(self.run_cell("import os, subprocess\nsubprocess.Popen(['sleep', '1000']).pid",
                                context=context).text)
        first = self.host.execute("os._exit(1)", context=context)
        second = self.host.execute("'next'", context=context)
        self.host.wait(first)
        self.assertEqual(Cell(self.host.wait(second)).text, "next")
        self.assertTrue(gone([pid]))

    def test_a_fork_that_falls_out_of_its_cell(self):
        context = self.make()
        before = self.run_cell("import os; os.getpid()", context=context).text
        cell = self.run_cell("pid = os.fork()\nif pid: os.waitpid(pid, 0)\n'end'", context=context)
        self.assertEqual([r["text"] for r in cell.results], ["end"])
        self.assertEqual(self.run_cell("os.getpid()", context=context).text, before)

    def test_output_after_the_cell(self):
        context = self.make()
        self.run_cell("import subprocess\nsubprocess.Popen(['sh', '-c', 'while ! [ -e go ]; do sleep 0.02; done; "
                      "echo late; touch went']);", context=context)
        cell = self.run_cell("import os, time\nopen('go', 'w').close()\n"
                             "while not os.path.exists('went'): time.sleep(0.02)", context=context)
        self.assertEqual(cell.stdout, "late\n")

    def test_contexts_are_made_listed_restarted_removed(self):
        kind, made = self.host.answer("create", language="python3", cwd=None)
        self.assertEqual((kind, made["language"], made["cwd"]), ("done", "python", self.host.work))
        self.assertRegex(made["id"], r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
        listed = self.host.answer("list")[1]
        self.assertIn(made, listed)
        self.assertEqual((listed[0]["language"], listed[0]["cwd"]), ("python", self.host.work))
        pid = int(self.run_cell("x = 1; import os; os.getpid()", context=made["id"]).text)
        self.assertEqual(self.host.answer("restart", context=made["id"]), ("done", {}))
        self.assertTrue(gone([pid]))
        self.assertEqual(self.run_cell("x", context=made["id"]).error["name"], "NameError")
        self.assertEqual(self.host.answer("remove", context=made["id"]), ("done", {}))
        self.assertNotIn(made, self.host.answer("list")[1])
        for op in ("restart", "remove"):
            self.assertEqual(self.host.answer(op, context=made["id"]),
                             ("failed", "404 Context %s not found" % made["id"]))
        self.assertEqual(self.run_cell("1", context="abc").failed, "404 Context abc not found")

    def test_restart_and_remove_end_what_runs(self):
        for op, name in (("restart", "KernelRestarted"), ("remove", "ContextRemoved")):
            _, made = self.host.answer("create")
            first = self.host.execute("print('in')\nwhile True: pass", context=made["id"])
            second = self.host.execute("1", context=made["id"])
            self.host.wait_for(first, '"in')
            self.assertEqual(self.host.answer(op, context=made["id"]), ("done", {}))
            for number in (first, second):
                cell = Cell(self.host.wait(number))
                self.assertEqual(cell.error["name"], name)
                self.assertEqual(cell.types()[-1], "end_of_execution")

    def test_refusals(self):
        cell = self.run_cell("1", language="r")
        self.assertRegex(cell.failed, r"^400 Language r is not available.*bash.*python")
        self.assertTrue(self.run_cell("1", language="ts").failed.startswith("400 Language typescript"))
        self.assertTrue(self.host.answer("dance")[1].startswith("400 Unknown op"))
        self.assertTrue(self.host.answer("execute")[1].startswith("400 "))
        self.host.send_raw(b'{"op": "list", "id": 987654, oh\n\n[]\nnonsense\n"word"\n')
        self.assertEqual(self.host.wait(987654), [("failed", "400 Malformed line")])
        self.assertEqual(self.run_cell("8").text, "8")

    def test_a_host_that_does_not_read(self):
        """Its children wait, memory stays small, and an interrupt is still obeyed."""
        context = self.make()
        number = self.host.execute("while True: print('z' * 1000)", context=context)
        self.host.wait_for(number, "zzz")

        def resident():
            text = pathlib.Path("/proc/%d/status" % self.host.process.pid).read_text()
            return int(re.search(r"VmRSS:\s+(\d+)", text).group(1))

        before = resident()
        time.sleep(1)
        self.assertLess(resident() - before, 16 << 10)
        self.host.send(op="interrupt", id=number)
        time.sleep(0.3)
        cell = Cell(self.host.wait(number))
        self.assertEqual(cell.error["name"], "KeyboardInterrupt")
        self.assertEqual(self.run_cell("1", context=context).text, "1")


@unittest.skipUnless(has("IPython"), "IPython is not installed")
class WithIPython(Python, Served):
    def test_shell_commands_and_magics(self):
        cell = self.run_cell("print('a', end='')\n!echo b; echo c >&2")
        self.assertEqual((cell.stdout, cell.stderr), ("ab\n", "c\n"))
        self.assertEqual(self.run_cell("%%capture caught\nprint('x')").stdout, "")
        self.assertEqual(self.run_cell("caught.stdout").text, "x\\n")
        self.assertEqual(self.run_cell("3;").results, [])

    def test_earlier_results(self):
        context = self.make()
        self.run_cell("20+1", context=context)
        self.assertEqual(self.run_cell("_ * 2, Out[1], In[1]", context=context).text, "(42, 21, '20+1')")

    def test_tracebacks_are_coloured(self):
        self.assertIn("\x1b[", self.run_cell("1/0").error["traceback"])

    def test_no_file_is_written(self):
        home = tempfile.mkdtemp(prefix="home-")
        os.chmod(home, 0o555)
        host = Host(home=home)
        try:
            self.assertEqual(host.run("1+1").text, "2")
            self.assertEqual(os.listdir(home), [])
            self.assertEqual(os.listdir(host.work), [])
        finally:
            host.close()
            os.rmdir(home)


class WithoutIPython(Python, Served):
    before = WITHOUT

    def test_it_is_the_plain_executor(self):
        self.assertEqual(self.run_cell("get_ipython()").error["name"], "NameError")
        self.assertEqual(self.run_cell("6*7").text, "42")
        self.assertEqual(self.run_cell("_").text, "42")


@unittest.skipUnless(has("matplotlib"), "matplotlib is not installed")
class Drawing(Served):
    IMPORT = "import matplotlib.pyplot as plt\n"

    def draw(self, code, **rest):
        cell = self.run_cell(self.IMPORT + code, **rest)
        self.assertIsNone(cell.error, cell.error)
        for result in cell.results:
            if "png" in result:
                self.assertTrue(base64.b64decode(result["png"]).startswith(b"\x89PNG"))
        return [r for r in cell.results if "png" in r]

    def test_a_line(self):
        figure, = self.draw("plt.plot([1, 2], [3, 5], label='up')\nplt.title('T')\nplt.xlabel('Time (s)')\n"
                            "plt.yscale('log')\nplt.legend();")
        chart = figure["chart"]
        self.assertTrue(figure["text"].startswith("<Figure size"))
        self.assertFalse(figure["is_main_result"])
        self.assertEqual((chart["type"], chart["title"], chart["x_label"], chart["x_unit"], chart["y_label"]),
                         ("line", "T", "Time (s)", "s", None))
        self.assertEqual((chart["x_scale"], chart["y_scale"]), ("linear", "log"))
        self.assertEqual(chart["elements"], [{"label": "up", "points": [[1.0, 3.0], [2.0, 5.0]]}])
        self.assertEqual(len(chart["x_ticks"]), len(chart["x_tick_labels"]))

    def test_dates_and_categories(self):
        figure, = self.draw("import datetime\nplt.plot([datetime.datetime(2024, 1, 2)], [1], 'o');")
        self.assertEqual(figure["chart"]["x_scale"], "datetime")
        self.assertTrue(figure["chart"]["elements"][0]["points"][0][0].startswith("2024-01-02T00:00"))
        figure, = self.draw("plt.plot(['p', 'q'], [1, float('nan')]);")
        self.assertEqual(figure["chart"]["elements"][0]["points"], [["p", 1.0], ["q", None]])

    def test_dots_bars_pie_boxes(self):
        figure, = self.draw("plt.scatter([1, 2], [3, 4]);")
        self.assertEqual(figure["chart"]["type"], "scatter")
        self.assertEqual(figure["chart"]["elements"][0]["points"], [[1.0, 3.0], [2.0, 4.0]])
        for call in ("bar", "barh"):
            figure, = self.draw("plt.%s(['a', 'b'], [3, 4], label='g');" % call)
            self.assertEqual(figure["chart"]["type"], "bar")
            self.assertEqual(figure["chart"]["elements"], [{"label": "a", "group": "g", "value": 3.0},
                                                           {"label": "b", "group": "g", "value": 4.0}])
        figure, = self.draw("plt.pie([1, 3], labels=['x', 'y']);")
        self.assertEqual(figure["chart"]["type"], "pie")
        self.assertEqual([(e["label"], round(e["angle"]), e["radius"]) for e in figure["chart"]["elements"]],
                         [("x", 90, 1.0), ("y", 270, 1.0)])
        figure, = self.draw("plt.boxplot([1, 2, 3, 4, 5, 100]);")
        box, = figure["chart"]["elements"]
        self.assertEqual((figure["chart"]["type"], box["min"], box["median"], box["max"], box["outliers"]),
                         ("box_and_whisker", 1.0, 3.5, 5.0, [100.0]))

    def test_several_axes_and_none(self):
        figure, = self.draw("f, (a, b) = plt.subplots(1, 2)\na.plot([1])\nb.bar([1], [2])\nf.suptitle('S');")
        self.assertEqual((figure["chart"]["type"], figure["chart"]["title"]), ("superchart", "S"))
        self.assertEqual([c["type"] for c in figure["chart"]["elements"]], ["line", "bar"])
        figure, = self.draw("plt.figure();")
        self.assertNotIn("chart", figure)
        figure, = self.draw("plt.imshow([[1, 2]]);")
        self.assertEqual(figure["chart"]["type"], "unknown")

    def test_show_and_the_cells_end(self):
        self.assertEqual(len(self.draw("plt.plot([1]); plt.show(); plt.plot([2]);")), 2)
        self.assertEqual(self.draw("1;"), [])
        shown, = self.draw("f = plt.figure()\nf")
        self.assertTrue(shown["is_main_result"])
        # One that pyplot does not hold, and in a later cell does.
        self.assertEqual(len(self.draw("from matplotlib.figure import Figure\nfree = Figure()\nfree")), 1)
        self.assertEqual(len(self.draw("plt.figure()\nplt.get_current_fig_manager().canvas.figure = free")), 1)

    def test_other_backends_and_the_magic(self):
        self.assertEqual(len(self.draw("import matplotlib; matplotlib.use('Agg'); plt.plot([1]);",
                                       context=self.make())), 1)
        if has("IPython"):
            self.assertEqual(len(self.draw("%matplotlib inline\nplt.plot([1]); plt.show();")), 1)


@unittest.skipUnless(shutil.which("node"), "node is not installed")
class JavaScript(Served):
    before = WITHOUT

    def js(self, code, **rest):
        if "context" not in rest:
            rest["language"] = "js"
        return self.run_cell(code, **rest)

    def test_values(self):
        self.assertEqual(self.js("1 + 1").text, "2")
        self.assertEqual(self.js("'a\u20ac'").text, "a\u20ac")
        self.assertEqual(self.js("undefined").results, [])
        self.assertEqual(self.js("var z = 1; if (z) { 3 }").results, [])
        shown = self.js("{a: [1, 'x']}").results[0]
        self.assertEqual((shown["text"], shown["json"]), ("{ a: [ 1, 'x' ] }", {"a": [1, "x"]}))
        self.assertNotIn("json", self.js("new Map([[1, 2]])").results[0])
        self.assertEqual(self.js("display(5); 6").results[0]["is_main_result"], False)
        self.assertTrue(any(c["language"] == "javascript" for c in self.host.answer("list")[1]))

    def test_names_are_kept_and_declared_again(self):
        self.js("const a = 1; let b; class C { v() { return a } }; function f() { return 10 }")
        self.assertEqual(self.js("a + new C().v() + f()").text, "12")
        self.js("const a = 2; let b = 3; class C {}")
        self.assertEqual(self.js("[a, b, C.name].join()").text, "2,3,C")
        self.assertEqual(self.js("const {p, q: [r]} = {p: 1, q: [2]}; p + r").text, "3")

    def test_await_at_the_top(self):
        self.assertEqual(self.js("const w = await Promise.resolve(4)\nconst g = () => 5\n;(w + g())").text, "9")
        self.assertEqual(self.js("w").text, "4")
        self.js("const {m} = await Promise.resolve({m: 7}); function h() { return m }; class K {}")
        self.assertEqual(self.js("h() + K.name").text, "7K")
        self.assertEqual(self.js("(await 3)").text, "3")

    def test_modules(self):
        self.assertEqual(self.js("require('path').join('a', 'b')").text, "a/b")
        self.assertEqual(self.js("(await import('node:path')).basename('/x/y')").text, "y")
        self.assertEqual(self.js("import fs, { existsSync as e } from 'fs'\ne('/') && fs.existsSync('/')").text, "true")
        pathlib.Path(self.host.work, "near.mjs").write_text("export const word = 'near'")
        self.assertEqual(self.js("import { word } from './near.mjs'; word").text, "near")

    def test_output_and_environment(self):
        cell = self.js("console.log('o\u20ac'); console.error('e'); process.env.ONCE + process.env.SANDBOX_WORD",
                       env={"ONCE": "1"})
        self.assertEqual((cell.stdout, cell.stderr, cell.text), ("o\u20ac\n", "e\n", "1from-setup"))
        self.assertEqual(self.js("process.env.ONCE").results, [])
        self.assertEqual(self.js("process.cwd()").text, self.host.work)
        self.assertEqual(self.js("for (let i = 0; i < 50000; i++) console.log('line ' + i)").stdout,
                         "".join("line %d\n" % i for i in range(50000)))

    def test_errors(self):
        error = self.js("function bad() { throw new TypeError('no') }\nbad()").error
        self.assertEqual((error["name"], error["value"]), ("TypeError", "no"))
        self.assertIn("at bad ([cell", error["traceback"])
        self.assertNotIn("[eval]", error["traceback"])
        self.assertEqual(self.js("const = 1").error["name"], "SyntaxError")
        self.assertEqual(self.js("throw 5").error["value"], "5")
        self.assertEqual(self.js("await Promise.reject(new RangeError('r'))").error["name"], "RangeError")
        self.assertEqual(self.js("setTimeout(() => { throw new Error('stray') }, 1); "
                                 "await new Promise(r => setTimeout(r, 50))").error, None)
        self.assertEqual(self.js("1").text, "1")

    def test_interrupts(self):
        self.js("var kept = 8")
        for busy in ("while (true);", "await new Promise(() => setInterval(() => {}, 1000))"):
            number = self.host.execute("console.log('in'); " + busy, language="javascript")
            self.host.wait_for(number, '"in')
            self.host.send(op="interrupt", id=number)
            self.assertEqual(Cell(self.host.wait(number)).error["name"], "Interrupted", busy)
        self.assertEqual(self.js("kept").text, "8")

    def test_a_death(self):
        context = self.make(language="javascript")
        self.assertEqual(self.js("process.exit(3)", context=context).error["name"], "KernelDied")
        self.assertEqual(self.js("1", context=context).text, "1")

    def test_a_context_of_its_own(self):
        below = os.path.join(self.host.work, "js-below")
        os.makedirs(below, exist_ok=True)
        context = self.make(language="javascript", cwd=below)
        self.js("globalThis.mine = 1", context=context)
        self.assertEqual(self.js("process.cwd()", context=context).text, below)
        self.assertEqual(self.js("typeof mine").text, "undefined")


class Bash(Served):
    before = WITHOUT

    def sh(self, code, **rest):
        if "context" not in rest:
            rest["language"] = "sh"
        return self.run_cell(code, **rest)

    def test_state_and_output(self):
        cell = self.sh("x='a\u20ac'; declare -A m; m[k]=v; f() { echo \"f $1\"; }; cd /; echo out; echo err >&2")
        self.assertEqual((cell.stdout, cell.stderr, cell.error), ("out\n", "err\n", None))
        cell = self.sh("echo \"$x ${m[k]} $PWD\"; f 1; echo \"$SANDBOX_WORD\"")
        self.assertEqual(cell.stdout, "a\u20ac v /\nf 1\nfrom-setup\n")
        self.assertEqual(cell.events[0]["execution_count"], self.sh("").events[0]["execution_count"] - 1)

    def test_quotes_and_documents(self):
        self.assertEqual(self.sh("cat <<'E'\nit's $x\nE\necho \"a'b\" 'c\"d'").stdout, "it's $x\na'b c\"d\n")
        self.assertEqual(self.sh("cat").stdout, "")     # stdin is empty

    def test_status(self):
        self.assertEqual(self.sh("true").error, None)
        error = self.sh("f() { return 3; }; f").error
        self.assertEqual((error["name"], error["value"]), ("CommandFailed", "exit status 3"))
        cell = self.sh("if then")
        self.assertEqual(cell.error["name"], "CommandFailed")
        self.assertIn("syntax error", cell.stderr)

    def test_leaving_starts_a_fresh_one(self):
        context = self.make(language="bash")
        self.sh("y=1", context=context)
        cell = self.sh("echo bye; exit 5", context=context)
        self.assertEqual((cell.stdout, cell.error["value"]), ("bye\n", "exit status 5"))
        self.assertEqual(self.sh("exit", context=context).error, None)
        self.assertEqual(self.sh("echo [$y]", context=context).stdout, "[]\n")
        self.assertEqual(self.sh("kill -9 $$", context=context).error["name"], "KernelDied")

    def test_environment_for_one_run(self):
        self.sh("PLAIN=old; export OUT='o l\"d'; unset NEW")
        ask = "echo $PLAIN,$OUT,$NEW; env | grep -cE '^(PLAIN|OUT|NEW)='"
        self.assertEqual(self.sh(ask, env={"PLAIN": "1 '2", "OUT": "3", "NEW": "4"}).stdout, "1 '2,3,4\n3\n")
        self.assertEqual(self.sh(ask).stdout, "old,o l\"d,\n1\n")

    def test_interrupts_end_the_cell_and_keep_the_state(self):
        for busy in ("sleep 1000", "while :; do :; done", "f() { while true; do sleep 1000; done; echo no; }; f",
                     "for i in 1 2 3; do sleep 1000; done", "(sleep 1000; echo no)", "sleep 1000 | cat"):
            number = self.host.execute("kept=9; echo in; %s; echo after; after=1" % busy, language="bash")
            self.host.wait_for(number, '"in')
            self.host.send(op="interrupt", id=number)
            cell = Cell(self.host.wait(number))
            self.assertEqual((cell.stdout, cell.error["name"]), ("in\n", "Interrupted"), busy)
            self.assertEqual(self.sh("echo $kept$after; for i in 1; do echo $i; done").stdout, "9\n1\n", busy)

    def test_our_descriptors_are_not_the_users(self):
        self.assertEqual(self.sh("[[ -e /dev/fd/3 || -e /dev/fd/60 ]] && echo there").stdout, "")


class Life(unittest.TestCase):
    def test_nothing_is_obeyed_before_setup(self):
        host = Host(WITHOUT, setup=False)
        try:
            self.assertEqual(host.answer("list"), ("failed", "400 Setup has not come yet"))
            self.assertEqual(len(host.descendants()), 1)    # the child made ahead
            host.setup()
            self.assertEqual(host.run("1").text, "1")
            deadline = time.monotonic() + PATIENCE
            while len(host.descendants()) < 2 and time.monotonic() < deadline:
                time.sleep(0.02)
            self.assertEqual(len(host.descendants()), 2)    # and the next one
        finally:
            host.close()

    def test_the_end_of_input_ends_all(self):
        host = Host(WITHOUT)
        host.run("import subprocess\nsubprocess.Popen(['sleep', '1000']);")
        number = host.execute("print('in')\nwhile True: pass")
        host.run("sleep 1000 & echo", language="bash")
        host.wait_for(number, '"in')
        pids = host.descendants()
        self.assertGreaterEqual(len(pids), 4)
        self.assertEqual(host.close(), 0)
        self.assertTrue(gone(pids))

    def test_a_host_that_is_gone(self):
        host = Host(WITHOUT)
        pids = host.descendants()
        host.process.stdout.close()
        host.send(op="list", id=1)
        self.assertEqual(host.process.wait(PATIENCE), 0)
        self.assertTrue(gone(pids))
        host.process.stdin.close()
        shutil.rmtree(host.work, ignore_errors=True)

    def test_chance_is_fresh_when_the_user_comes(self):
        """A machine may be copied with its child made ahead: all copies must not draw alike."""
        host = Host(WITHOUT + "import os, random\n"
                    "os.register_at_fork(after_in_child=lambda: random.seed(1))\n")
        try:
            drawn = host.run("import random; random.random()").text
            self.assertNotEqual(drawn, repr(random.Random(1).random()))
        finally:
            host.close()

    def test_a_missing_directory_at_setup(self):
        host = Host(WITHOUT, setup=False)
        try:
            host.send(op="setup", javascript="", env={}, cwd="/nowhere")
            self.assertEqual(host.run("import os; os.getcwd()").text, "/")
            self.assertEqual(host.run("2").text, "2")
        finally:
            host.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="mpl-") as MPL_CACHE:
        unittest.main()
