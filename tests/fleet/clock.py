# SPDX-License-Identifier: Apache-2.0
"""Clocks of the wall that jump, of one party each: its programs load shifted_clock.cc, and go by the file of that party."""
import email.utils
import pathlib
import shutil
import struct
import tempfile
import time


class Clocks:
    """A context: its files are gone at its end."""

    def __init__(self, library):
        self.built = library

    def __enter__(self):
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="cordon-clocks-", dir="/var/tmp"))
        self.base.chmod(0o755)
        self.library = self.base / "shifted_clock.so"     # a build tree may lie where an ordinary user cannot look
        shutil.copy(self.built, self.library)
        self.library.chmod(0o755)
        self.files = {}
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.base, ignore_errors=True)

    def file_of(self, party):
        name = f"{type(party).__name__.lower()}{party.number}"
        if name not in self.files:
            self.files[name] = self.base / name
            self.jump(party, 0)
        return self.files[name]

    def environment(self, party):
        return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LD_PRELOAD": str(self.library), "CORDON_SHIFTED_CLOCK": str(self.file_of(party))}

    def jump(self, party, seconds):
        """From now on it is so many seconds off. Its programs have the file mapped: it is written in place."""
        file = self.file_of(party)
        with open(file, "r+b" if file.exists() else "wb") as out:
            out.write(struct.pack("q", seconds))
        file.chmod(0o644)

    def seen(self, party):
        """By how much its answers are off."""
        with party.client() as client:
            date = client.ask("GET", "/v1/health").fields["Date"]
        return email.utils.parsedate_to_datetime(date).timestamp() - time.time()
