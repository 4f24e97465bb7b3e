# SPDX-License-Identifier: Apache-2.0
"""What systemd says of our units, and that each starts its program however often that ends. 77: no systemd here."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

UNITS = pathlib.Path(__file__).resolve().parents[2] / "packaging/systemd"


def said_of(place, name, text):
    """By `systemd-analyze verify`, with a program, a user and a page that are there."""
    for ours, there in ((r"/usr/lib/cordon/[\w-]+", "/bin/true"), (r"(?m)^User=.*", "User=daemon"), (r"(?m)^Documentation=.*", "Documentation=https://example.org")):
        text = re.sub(ours, there, text)
    (place / name).write_text(text)
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", place / name], capture_output=True, text=True)
    return done.stderr.strip() or (f"exit {done.returncode}" if done.returncode else "")


def main():
    if not shutil.which("systemd-analyze"):
        print("skipped: no systemd-analyze")
        sys.exit(77)
    wrong = []
    with tempfile.TemporaryDirectory(prefix="cordon-units-") as name:
        place = pathlib.Path(name)
        units = sorted(UNITS.glob("*.service"))
        for unit in units:
            text = unit.read_text()
            if said := said_of(place, unit.name, text):
                wrong.append(f"{unit.name}: {said}")
            if "Restart=" not in text or "StartLimitIntervalSec=0" not in text.partition("[Service]")[0]:
                wrong.append(f"{unit.name}: after some failures it is not started any more")
        # The counter-arm: a key that there is none of is found.
        if not said_of(place, "wrong.service", units[0].read_text().replace("Restart=", "Restarts=")):
            wrong.append("a key that is none was not found")
    print("\n".join(wrong) or f"{len(units)} units")
    sys.exit(bool(wrong))


main()
