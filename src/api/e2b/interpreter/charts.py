# SPDX-License-Identifier: Apache-2.0
# Figures and charts.

class Figures:
    """Shows matplotlib's open figures, as pictures and where possible as data."""

    def __init__(self, publish):
        self.publish = publish      # takes a bundle
        self.seen = set()           # figures this cell has shown by itself

    def prepare(self):
        """In the zygote, where matplotlib is installed: imports it and makes it draw for us."""
        backend = types.ModuleType("cordon_figures")
        sys.modules["cordon_figures"] = backend
        import matplotlib
        from matplotlib.backends import backend_agg
        from matplotlib.backend_bases import FigureManagerBase
        backend.FigureCanvas = backend_agg.FigureCanvasAgg
        backend.FigureManager = FigureManagerBase
        backend.show = lambda *args, **kwargs: self.flush()
        matplotlib.use(FIGURES_BACKEND)
        import matplotlib.pyplot as pyplot
        pyplot.switch_backend(FIGURES_BACKEND)
        axes = matplotlib.axes.Axes
        draw_boxes = axes.bxp

        def bxp(self, bxpstats, *args, **kwargs):
            # A box plot leaves only lines behind: its numbers must be kept as it is drawn.
            artists = draw_boxes(self, bxpstats, *args, **kwargs)
            kept = self.__dict__.setdefault("_cordon_boxes", [])
            kept.append((artists.get("medians", []), bxpstats))
            return artists

        bxp.__doc__ = draw_boxes.__doc__
        axes.bxp = bxp
        # The first figure loads fonts and the PNG writer: better now than in the first cell.
        figure = pyplot.figure()
        figure.add_subplot().plot([0, 1], [0, 1], label="a")
        self.png(figure)
        pyplot.close("all")

    @staticmethod
    def png(figure):
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", bbox_inches="tight", facecolor=figure.get_facecolor())
        return buffer.getvalue()

    def bundle(self, figure):
        self.seen.add(id(figure))
        bundle = {"text/plain": repr(figure), "image/png": self.png(figure)}
        chart = self.chart(figure)      # after drawing, which places the ticks
        if chart:
            bundle["e2b/chart"] = chart
        return bundle

    @staticmethod
    def chart(figure):
        try:
            return figure_chart(figure)
        except Exception:  # an unusual figure is a picture only
            return None

    def flush(self):
        seen, self.seen = self.seen, set()
        helpers = sys.modules.get("matplotlib._pylab_helpers")
        if helpers is None or not helpers.Gcf.figs:
            return
        try:
            for manager in helpers.Gcf.get_all_fig_managers():
                if id(manager.canvas.figure) not in seen:
                    self.publish(self.bundle(manager.canvas.figure))
        finally:
            sys.modules["matplotlib.pyplot"].close("all")
            self.seen = set()


def is_figure(value):
    module = sys.modules.get("matplotlib.figure")
    return module is not None and isinstance(value, module.Figure)


def frame_data(value):
    """A pandas DataFrame as column -> list, or None for anything else."""
    pandas = sys.modules.get("pandas")
    frame = getattr(pandas, "DataFrame", None)
    if frame is None or not isinstance(value, frame):
        return None
    return {str(name): value.iloc[:, i].tolist() for i, name in enumerate(value.columns)}


def figure_chart(figure):
    charts = [axes_chart(axes) for axes in figure.axes if axes.get_label() != "<colorbar>"]
    if not charts:
        return None
    points = sum(len(e.get("points", ())) for c in charts for e in c["elements"])
    if points > MAX_POINTS:
        return None
    title = figure._suptitle.get_text() if figure._suptitle is not None else None
    if len(charts) == 1:
        charts[0]["title"] = charts[0]["title"] or title
        return charts[0]
    return {"type": "superchart", "title": title, "elements": charts}


class ChartAxis:
    """One axis, with its numbers turned back into dates or categories."""

    def __init__(self, axis):
        self.axis = axis
        converter = axis.get_converter() if hasattr(axis, "get_converter") else axis.converter
        kind = type(converter).__name__
        self.scale = axis.get_scale()
        self.names = {}
        if "Category" in kind:
            self.scale = "categorical"
            self.names = {number: name for name, number in axis.units._mapping.items()}
        elif "Date" in kind:
            self.scale = "datetime"

    def value(self, number):
        if self.scale == "datetime":
            from matplotlib.dates import num2date
            return num2date(number).isoformat()
        if self.names:
            return self.names.get(int(round(number)), float(number))
        return float(number)

    def name_at(self, number, reach):
        """The tick label nearest to `number` within `reach`, or the value itself as text."""
        near = [(abs(at - number), text) for at, text in zip(self.axis.get_ticklocs(), self.labels())
                if text and abs(at - number) <= reach]
        return min(near)[1] if near else str(self.value(number))

    def labels(self):
        return [label.get_text() for label in self.axis.get_ticklabels()]

    def describe(self, letter):
        ticks = [self.value(at) for at in self.axis.get_ticklocs()]
        return {letter + "_ticks": ticks, letter + "_tick_labels": self.labels(),
                letter + "_scale": self.scale}


def axes_chart(axes):
    from matplotlib.collections import PathCollection
    from matplotlib.container import BarContainer
    from matplotlib.patches import Wedge
    chart = {"type": "unknown", "title": axes.get_title() or None, "elements": []}
    wedges = [patch for patch in axes.patches if isinstance(patch, Wedge)]
    if wedges:
        chart["type"] = "pie"
        chart["elements"] = [{"label": w.get_label(), "angle": float(w.theta2 - w.theta1),
                              "radius": float(w.r)} for w in wedges]
        return chart
    x, y = ChartAxis(axes.xaxis), ChartAxis(axes.yaxis)
    for letter, label in (("x", axes.get_xlabel()), ("y", axes.get_ylabel())):
        unit = re.search(r"\(([^()]*)\)|\[([^\[\]]*)\]", label)
        chart[letter + "_label"] = label or None
        chart[letter + "_unit"] = (unit.group(1) or unit.group(2)) if unit else None
    boxes = [stats for medians, kept in axes.__dict__.get("_cordon_boxes", ())
             if medians and medians[0] in list(axes.lines) for stats in kept]
    bars = [c for c in axes.containers if isinstance(c, BarContainer) and len(c)]
    lines = list(axes.lines)
    scatters = [c for c in axes.collections if isinstance(c, PathCollection)]
    if boxes:
        chart["type"] = "box_and_whisker"
        chart["elements"] = [
            {"label": str(s.get("label", "")), "min": float(s["whislo"]),
             "first_quartile": float(s["q1"]), "median": float(s["med"]),
             "third_quartile": float(s["q3"]), "max": float(s["whishi"]),
             "outliers": [float(v) for v in s.get("fliers", ())]} for s in boxes]
    elif bars:
        chart["type"] = "bar"
        chart["elements"] = [element for n, c in enumerate(bars, 1)
                             for element in bar_elements(c, series_name(c, "Group", n), x, y)]
    elif lines or scatters:
        chart["type"] = "line" if lines else "scatter"
        chart.update(x.describe("x"))
        chart.update(y.describe("y"))
        for n, line in enumerate(lines, 1):
            pairs = zip(line.get_xdata(orig=False), line.get_ydata(orig=False))
            chart["elements"].append({"label": series_name(line, "Line", n),
                                      "points": [[x.value(a), y.value(b)] for a, b in pairs]})
        for n, dots in enumerate(() if lines else scatters, 1):
            chart["elements"].append({"label": series_name(dots, "Series", n), "points": [
                [x.value(a), y.value(b)] for a, b in dots.get_offsets().tolist()]})
    return chart


def bar_elements(container, group, x, y):
    lying = getattr(container, "orientation", None) == "horizontal"
    for patch in container.patches:
        if lying:
            middle, reach = patch.get_y() + patch.get_height() / 2, abs(patch.get_height())
        else:
            middle, reach = patch.get_x() + patch.get_width() / 2, abs(patch.get_width())
        yield {"label": (y if lying else x).name_at(middle, reach / 2), "group": group,
               "value": float(patch.get_width() if lying else patch.get_height())}


def series_name(artist, kind, number):
    label = str(artist.get_label() or "")
    return label if label and not label.startswith("_") else "%s %d" % (kind, number)
