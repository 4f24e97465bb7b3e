# SPDX-License-Identifier: Apache-2.0
"""Processes of a benchmark, as /proc has them."""
import contextlib
import pathlib


def children(pid):
    return [int(each) for task in pathlib.Path(f"/proc/{pid}/task").iterdir() for each in (task / "children").read_text().split()]


def descendants(pid):
    """Those that are there: one that ends meanwhile is left out, with its own."""
    found = []
    with contextlib.suppress(OSError):
        for each in children(pid):
            found += [each, *descendants(each)]
    return found
