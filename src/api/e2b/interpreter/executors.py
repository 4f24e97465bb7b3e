# SPDX-License-Identifier: Apache-2.0
# Executors: how a Python cell is run.

def leave(code=None):
    """exit() and quit(): they end the cell, never the context."""
    raise SystemExit(code)


def make_ipython(reporter):
    """An IPython shell that reports as events, keeps no history on disk and writes no file."""
    from IPython.core import interactiveshell
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.formatters import DisplayFormatter
    from IPython.core.profiledir import ProfileDir
    from traitlets import Type
    from traitlets.config import Config

    class Formatter(DisplayFormatter):
        def format(self, obj, include=None, exclude=None):
            if is_figure(obj):
                return figures.bundle(obj), {}
            bundle, metadata = super().format(obj, include, exclude)
            if bundle and "pandas" in sys.modules:
                data = frame_data(obj)
                if data is not None:
                    bundle["e2b/data"] = data
            return bundle, metadata

    class Hook(DisplayHook):
        def start_displayhook(self):
            pass

        def write_output_prompt(self):
            pass

        def write_format_data(self, format_dict, md_dict=None):
            reporter.event(result_event(format_dict, True), hold=True)

        def finish_displayhook(self):
            pass

    class Publisher(DisplayPublisher):
        def publish(self, data, metadata=None, source=None, **kwargs):
            reporter.event(result_event(data, False))

        def clear_output(self, wait=False):
            pass

    class Shell(interactiveshell.InteractiveShell):
        displayhook_class = Type(Hook)
        display_pub_class = Type(Publisher)

        def init_display_formatter(self):
            self.display_formatter = Formatter(parent=self)
            self.configurables.append(self.display_formatter)

        def init_virtualenv(self):
            pass

        def _showtraceback(self, etype, evalue, stb):
            reporter.error(getattr(etype, "__name__", str(etype)), safe_str(evalue), "\n".join(stb))

        def system(self, cmd):
            # By plain descriptors, not by a pseudo-terminal: our pipes take the output as it comes.
            reporter.flush_output()
            self.system_raw(cmd)
            add_user_site()

        def enable_gui(self, gui=None):
            pass

        def enable_matplotlib(self, gui=None):
            return "inline", FIGURES_BACKEND

        def ask_exit(self):
            raise SystemExit

    # The store of %store and %bookmark would make its directory at once.
    interactiveshell.PickleShareDB = lambda path: {}
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.autocall = 0
    # Both places are given, so that none is made in a home that may be read-only.
    shell = Shell.instance(config=config, ipython_dir="", profile_dir=ProfileDir())
    shell.user_ns["exit"] = shell.user_ns["quit"] = leave
    warnings.filterwarnings("ignore", message="To exit: use")
    figures = Figures(lambda bundle: reporter.event(result_event(bundle, False)))
    # The first traceback loads half of IPython: better now than in a context.
    with open(os.devnull, "wb", 0) as nowhere:
        reporter.fd = nowhere.fileno()
        shell.run_cell("raise KeyError(0)", store_history=False)
        shell.display_formatter.format(0)
        reporter.send(b"")
    return IPythonExecutor(shell, figures)


class IPythonExecutor:
    def __init__(self, shell, figures):
        self.shell = shell
        self.figures = figures
        self.main = shell.user_module

    def run(self, code):
        self.shell.run_cell(code, store_history=True)
        self.figures.flush()
        # Without a database nobody empties this list.
        self.shell.history_manager.db_input_cache.clear()

    def count(self):
        return self.shell.execution_count


class PlainExecutor:
    """Where IPython is not installed: the last expression's value, top-level await, display()."""

    METHODS = {"_repr_html_": "text/html", "_repr_markdown_": "text/markdown",
               "_repr_svg_": "image/svg+xml", "_repr_png_": "image/png",
               "_repr_jpeg_": "image/jpeg", "_repr_pdf_": "application/pdf",
               "_repr_latex_": "text/latex", "_repr_json_": "application/json",
               "_repr_javascript_": "application/javascript"}

    def __init__(self, reporter):
        self.reporter = reporter
        self.main = types.ModuleType("__main__")
        self.main.__builtins__ = builtins
        self.main.exit = self.main.quit = leave
        self.cells = 1
        self.loop = None
        self.figures = Figures(lambda bundle: reporter.event(result_event(bundle, False)))
        builtins.display = self.display

    def count(self):
        return self.cells

    def display(self, *values, **_):
        for value in values:
            self.reporter.event(result_event(self.bundle(value), False))

    def bundle(self, value):
        if is_figure(value):
            return self.figures.bundle(value)
        bundle = {"text/plain": repr(value), "e2b/data": frame_data(value)}
        for method, mime in self.METHODS.items():
            function = None if isinstance(value, type) else getattr(value, method, None)
            try:
                got = function() if callable(function) else None
            except Exception:  # a representation that fails is one that is not there
                continue
            bundle[mime] = got[0] if isinstance(got, tuple) else got
        return bundle

    def run(self, code):
        name = "<cell %d>" % self.cells
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        self.cells += 1
        try:
            self.run_tree(ast.parse(code, name), name)
        except BaseException as error:
            self.report(error)
        try:
            self.figures.flush()
        except BaseException as error:
            self.report(error)

    def run_tree(self, tree, name):
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr):
            tree.body.pop()
        self.step(compile(tree, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True))
        if isinstance(last, ast.Expr):
            whole = ast.Expression(last.value)
            value = self.step(compile(whole, name, "eval", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True))
            if value is not None:
                self.main._ = value
                self.reporter.event(result_event(self.bundle(value), True), hold=True)

    def step(self, code):
        value = eval(code, self.main.__dict__)
        if code.co_flags & 0x80:  # a coroutine: the cell awaits at its top level
            import asyncio
            if self.loop is None:
                self.loop = asyncio.new_event_loop()
                asyncio.set_event_loop(self.loop)
            task = self.loop.create_task(value)
            try:
                value = self.loop.run_until_complete(task)
            except BaseException:
                task.cancel()
                raise
        return value

    def report(self, error):
        frames = error.__traceback__
        while frames and not frames.tb_frame.f_code.co_filename.startswith("<cell"):
            frames = frames.tb_next
        text = "".join(traceback.format_exception(type(error), error, frames))
        self.reporter.error(type(error).__name__, safe_str(error), text)


def safe_str(value):
    try:
        return str(value)
    except Exception as error:
        return "(its text raised %s)" % type(error).__name__


def make_executor(reporter):
    try:
        executor = make_ipython(reporter)
    except ImportError:
        executor = PlainExecutor(reporter)
    except Exception as error:
        log("IPython is installed but cannot be used: %r" % error)
        executor = PlainExecutor(reporter)
    try:
        executor.figures.prepare()
    except ImportError:
        pass
    except Exception as error:
        log("matplotlib is installed but cannot be used: %r" % error)
    return executor
