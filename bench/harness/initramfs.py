# SPDX-License-Identifier: Apache-2.0
"""The first files of a machine, with another init than ours."""


def cpio_entry(name, data, mode):
    """One file of an archive in the form that a kernel unpacks."""
    head = "070701" + "".join(f"{value:08x}" for value in (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0))
    entry = head.encode() + name.encode() + b"\0"
    entry += b"\0" * (-len(entry) % 4) + data
    return entry + b"\0" * (-len(entry) % 4)


def with_init(ours, init):
    """`ours`, and behind it another init: of two files of a name the later one stays."""
    return ours + b"\0" * (-len(ours) % 512) + cpio_entry("init", init, 0o100755) + cpio_entry("TRAILER!!!", b"", 0)
