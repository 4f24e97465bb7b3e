#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The record of what happens: how fast the log is written, beside plain writes of as many bytes with the same waits for the disk; what programs
cost inside of a sandbox while the kernel tells of what they do, beside a node that does not look; and how much of it is lost. All in turns."""
import argparse
import contextlib
import io
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "harness"))
sys.path.insert(0, str(HERE.parent / "tests/cordond"))
sys.dont_write_bytecode = True

from daemon import Daemon                                       # noqa: E402
from places import find_programs, holds                         # noqa: E402
from programs import Program, all_programs, make_tree           # noqa: E402

PACKAGES, FILES = 60, 30        # that npm installs, and the files of each
RECORD = {"monitor": {"record": ["exec", "writes", "connects"]}}
SETTINGS = "[audit]\nevents_per_second = 1000000\n"
LEFT_OUT = ("walk", "search", "python import")   # they write nothing
RATES = (12_500, 25_000, 50_000, 101_000)       # events a second; the promise is 100,000

TEST = """
import pathlib, subprocess, sys, tempfile, unittest
class All(unittest.TestCase):
    def test_files(self):
        with tempfile.TemporaryDirectory(dir=".") as place:
            for number in range(200):
                path = pathlib.Path(place) / f"f{number}"
                path.write_text("x" * number)
                self.assertEqual(path.stat().st_size, number)
                path.rename(f"{path}.done")
    def test_children(self):
        for number in range(5):
            self.assertEqual(subprocess.run([sys.executable, "-S", "-c", f"raise SystemExit({number})"]).returncode, number)
unittest.main() if __name__ == "__main__" else None
"""
# Opens a file to be written so many times a second, for so many seconds, and says how many times it did.
FLOOD = """
import os, sys, time
rate, seconds = int(sys.argv[1]), float(sys.argv[2])
begin, done = time.monotonic(), 0
while done < rate * seconds:
    for _ in range(int(min(time.monotonic() - begin, seconds) * rate) - done):
        os.close(os.open("flooded", os.O_WRONLY | os.O_CREAT))
        done += 1
    time.sleep(0.002)
print(done / (time.monotonic() - begin))
"""


def writer(programs, directory, rounds, seconds):
    rows = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="cordon-audit-", dir=directory) as place:
            said = subprocess.run([programs.parent / "bench/bench_audit_writer", place, str(seconds)], capture_output=True, text=True, check=True)
        rows.append(json.loads(said.stdout))
        print("  ".join(f"{name} {value:,}" for name, value in rows[-1].items()), "records a second", flush=True)
    found = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
    found["many_to_plain"] = found["log_many"] / found["plain_many"]
    found["one_to_plain"] = found["log_one"] / found["plain_one"]
    print(f"one at a time {found['log_one']:,.0f} a second, {found['one_to_plain']:.2f} x plain; 64 at a time {found['log_many']:,.0f}, "
          f"{found['many_to_plain']:.2f} x plain", flush=True)
    return found


def packages(place):
    place.mkdir()
    for number in range(PACKAGES):
        name = f"package-{number}"
        files = {"package.json": json.dumps({"name": name, "version": "1.0.0"})}
        files |= {f"lib/part{part}.js": f"exports.part{part} = {part};\n" * (1 + part) for part in range(FILES)}
        with tarfile.open(place / f"{name}.tgz", "w:gz") as archive:
            for path, text in files.items():
                entry = tarfile.TarInfo(f"package/{path}")
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text.encode()))


@contextlib.contextmanager
def this_machine():
    """Its root as an image: to be read only, and never below a directory that somebody removes with all that is in it."""
    place = tempfile.mkdtemp(prefix="cordon-image-", dir="/var/tmp")
    try:
        subprocess.run(["mount", "--bind", "/", place], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", place], check=True)
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place])
        os.rmdir(place)


class Node(Daemon):
    """One with another image than its own."""

    def __init__(self, image, *words, **how):
        super().__init__(*words, **how)
        self.image = image

    def _settle(self):
        super()._settle()
        self.end(self.node)
        self.end(self.launcher)
        self.floor.write_text(self.floor.read_text().replace(f"source = {self.root}\n", f"source = {self.image}\n"))
        self.config.write_text(self.config.read_text().replace(f'dir = "{self.root}"', f'dir = "{self.image}"'))
        self.start_launcher()
        self.start_node()


def tree_of(place):
    make_tree(place)
    packages(place / "offers")
    (place / "install.js").write_text((HERE / "harness/install.js").read_text())
    (place / "source/test_all.py").write_text(TEST)
    (place / "flood.py").write_text(FLOOD)
    bytes_of = io.BytesIO()
    with tarfile.open(fileobj=bytes_of, mode="w") as archive:
        archive.add(place, ".")
    return bytes_of.getvalue()


def programs_inside():
    found = [program for program in all_programs() if not program.name.startswith(LEFT_OUT)]
    return [*found, Program("python test", ["/usr/bin/python3", "-m", "unittest", "-q", "test_all"], "source"),
            Program("npm install", ["/usr/bin/node", "install.js", "offers"], ".")]


class Side:
    """A node that lives for one turn: only so the kernel is rid of what it tells in the others' turns."""

    def __init__(self, programs, image, tree, monitor):
        self.node = Node(image, programs, settings=SETTINGS, floor=f"monitor = {'true' if monitor else 'false'}\n")
        self.tree, self.body = tree, {"timeout_seconds": 3600, "policy": RECORD if monitor else {}}

    def __enter__(self):
        self.node.__enter__()
        self.client = self.node.client(timeout=120)
        self.client.__enter__()
        self.sandbox = self.client.ask("POST", "/v1/sandboxes", self.body).json["id"]
        put = self.client.ask("PUT", f"/v1/sandboxes/{self.sandbox}/tree?path=/workspace", self.tree)
        if put.status not in (200, 201, 204):
            sys.exit(f"bench audit: the tree was not taken: {put}")
        return self

    def __exit__(self, *_):
        self.client.__exit__(*_)
        self.node.__exit__(*_)

    def took(self, program):
        began = time.monotonic()
        said = self.client.ask("POST", f"/v1/sandboxes/{self.sandbox}/run?seconds=100", {"command": program.words, "directory": f"/workspace/{program.directory}"})
        took = time.monotonic() - began
        if said.status != 200 or said.json["process"]["exit"]["code"] != 0:
            sys.exit(f"bench audit: {program.name}: {said}")
        return took

    def lost(self):
        records = [json.loads(line) for line in self.node.audit_lines()]
        return sum(record["count"] for record in records if record["event"] == "records_lost"), len(records)


def running(programs, turns, each, machine):
    ratios = {}
    lost = 0
    with tempfile.TemporaryDirectory(prefix="cordon-audit-", dir="/var/tmp") as place:
        tree = tree_of(pathlib.Path(place) / "tree")
    image = machine.enter_context(this_machine())
    for turn in range(turns):
        took = {}
        for monitor in (True, False) if turn % 2 else (False, True):
            with Side(programs, image, tree, monitor) as side:
                for program in programs_inside():
                    side.took(program)      # caches are cold
                    took[monitor, program.name] = statistics.median(side.took(program) for _ in range(each))
                if monitor:
                    gone, records = side.lost()
                    lost += gone
        for program in programs_inside():
            ratios.setdefault(program.name, []).append(took[True, program.name] / took[False, program.name])
        print(f"turn {turn}:", "  ".join(f"{name} {took[False, name] * 1000:.0f} ms, {values[-1]:.2f} x" for name, values in ratios.items()),
              f"  {records:,} records, {gone} lost", flush=True)
    found = {"recorded_" + name.split()[0].replace("+", "p") + "_" + name.split()[1]: statistics.median(values) for name, values in ratios.items()}
    found["recorded_to_not"] = max(found.values())
    found["lost"] = lost
    for name, values in ratios.items():
        spread = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0
        print(f"{name:<16} {statistics.median(values):.2f} x a node that does not look (± {spread:.2f})", flush=True)
    return found


# Runs a command so many times, and says how long each took.
TIMES = """
import subprocess, sys, time
for _ in range(int(sys.argv[1])):
    began = time.monotonic()
    subprocess.run(sys.argv[2:], check=True, stdout=subprocess.DEVNULL)
    print(time.monotonic() - began)
"""


def local(programs, turns, each):
    """The same programs under `cordon run`, whose filter tells it of what they intend, beside runs where it tells nobody."""
    ratios, records = {}, 0
    with tempfile.TemporaryDirectory(prefix="cordon-audit-", dir="/var/tmp") as place:
        place = pathlib.Path(place)
        tree_of(place / "tree")
        (place / "tree/times.py").write_text(TIMES)
        policy = place / "policy.toml"
        environment = {**os.environ, "HOME": str(place / "home"), "XDG_STATE_HOME": str(place / "state")}
        (place / "home").mkdir()

        def took(program, told):
            policy.write_text("version = 1\n" + ('[monitor]\nrecord = ["exec", "writes", "connects"]\n' if told else ""))
            said = subprocess.run([programs / "cordon", "run", "--live", "--policy", policy, "--workspace", place / "tree", *([] if told else ["--no-monitor"]), "--",
                                   "/bin/sh", "-c", f'cd {program.directory}; exec /usr/bin/python3 {place}/tree/times.py "$@"', "times", str(each + 1),
                                   *program.words], cwd=place / "tree", env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if said.returncode != 0:
                sys.exit(f"bench audit: {program.name}: {said}")
            return statistics.median(float(line) for line in said.stdout.split()[1:])       # caches are cold at the first

        for turn in range(turns):
            line = []
            for program in programs_inside():
                pair = {told: took(program, told) for told in ((True, False) if turn % 2 else (False, True))}
                ratios.setdefault(program.name, []).append(pair[True] / pair[False])
                line.append(f"{program.name} {pair[False] * 1000:.0f} ms, {ratios[program.name][-1]:.2f} x")
            print(f"local, turn {turn}:", "  ".join(line), flush=True)
        for file in (place / "state/cordon/audit").glob("*.log"):
            for text in file.read_text().splitlines()[1:]:
                record = json.loads(text)
                records += 1
                if record["event"] == "records_lost":
                    sys.exit(f"bench audit: {record}")
    found = {"told_" + name.split()[0].replace("+", "p") + "_" + name.split()[1]: statistics.median(values) for name, values in ratios.items()}
    found["told_to_not"] = max(found.values())
    for name, values in ratios.items():
        print(f"{name:<16} {statistics.median(values):.2f} x a local run that tells nobody", flush=True)
    print(f"{records:,} records", flush=True)
    return found


def flood(programs, machine, seconds):
    """The highest rate at which nothing is lost, and by how much the next one was too high."""
    image = machine.enter_context(this_machine())
    with tempfile.TemporaryDirectory(prefix="cordon-audit-", dir="/var/tmp") as place:
        tree = tree_of(pathlib.Path(place) / "tree")
    kept = 0
    for rate in RATES:
        with Side(programs, image, tree, True) as side:
            before = side.lost()[0]
            words = {"command": ["/usr/bin/python3", "flood.py", str(rate), str(seconds)], "directory": "/workspace"}
            reached = float(side.client.ask("POST", f"/v1/sandboxes/{side.sandbox}/run?seconds=100", words).json["stdout"])
            time.sleep(2)
            lost, records = side.lost()
        print(f"{rate:,} wanted: {reached:,.0f} events a second for {seconds} s, {lost - before:,} lost, {records:,} records", flush=True)
        if lost > before:
            break
        kept = max(kept, reached)
        if reached < 0.9 * rate:
            print("the machine does not make more of them", flush=True)
            break
    return {"events_kept": kept}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", help="a directory; build/release/bin by default, else build/dev/bin")
    parser.add_argument("--directory", default="/var/tmp", help="where the logs are written")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--turns", type=int, default=8, help="of nodes that look and do not")
    parser.add_argument("--each", type=int, default=5, help="runs of each program in a turn")
    parser.add_argument("--only", choices=("writer", "running", "local", "flood"), help="one of them")
    parser.add_argument("--flood", type=int, default=60, help="seconds of each rate")
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--check", action="store_true", help="hold the figures against promises.toml; 1 when one is missed")
    options = parser.parse_args()
    programs = find_programs("audit", options.programs)
    found = {}
    with contextlib.ExitStack() as machine:
        for name, act in {"writer": lambda: writer(programs, options.directory, options.rounds, options.seconds),
                          "running": lambda: running(programs, options.turns, options.each, machine),
                          "local": lambda: local(programs, options.turns, options.each),
                          "flood": lambda: flood(programs, machine, options.flood)}.items():
            if options.only in (None, name):
                found |= act()
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(found))
    if options.check:
        sys.exit(0 if holds("audit", found) else 1)


if __name__ == "__main__":
    main()
