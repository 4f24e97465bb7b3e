# SPDX-License-Identifier: Apache-2.0
"""Which element a mutant lacks: written into its file, behind a mark that stands there once (chosen.cc)."""
MARK = b"CORDON-MUTANT:"
ROOM = 256


def place_of(image):
    """Where it is written. `image`: the bytes of a program, or a map of its file, in which nothing was chosen yet."""
    at = image.find(MARK + b"\0")
    assert at > 0, "the program is no mutant"
    return at


def written(names):
    """What stands there then; several names with `|` between them."""
    encoded = names.encode()
    assert len(MARK) + len(encoded) < ROOM, names
    return (MARK + encoded).ljust(ROOM, b"\0")
