# SPDX-License-Identifier: Apache-2.0
"""How many times slower than its processor this machine runs the tests: 1, or what CORDON_TEST_SLOWNESS says, as for an emulated one.

Only bounds of time widen by it: what must be seen, refused or held is the same everywhere."""
import os
import re

SLOWNESS = int(os.environ.get("CORDON_TEST_SLOWNESS", "1"))


def slow(seconds):
    """So many seconds of a machine at full speed."""
    return seconds * SLOWNESS


def slow_flags(flags):
    """Flags of `cordon run`, with the time of the run as much longer."""
    flags = [str(flag) for flag in flags]
    for at, flag in enumerate(flags[:-1]):
        if flag == "--time" and (whole := re.fullmatch(r"(\d+)s", flags[at + 1])):
            flags[at + 1] = f"{slow(int(whole[1]))}s"
    return flags
