#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a sandbox of a stronger tier costs beside its bare engine: `true` created, run and destroyed through a resident launcher, and by the
engine alone in namespaces of the same kind, in turns. Needs root; an engine that is not installed is left out."""
import argparse
import json
import os
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "harness"))
sys.dont_write_bytecode = True

from places import find_programs, holds, percentile   # noqa: E402
from service import Place, Service   # noqa: E402

RUNSC = os.environ.get("CORDON_RUNSC", "/usr/bin/runsc")
TRUE = "/usr/bin/true"
# Every processor: the bare engine has them too.
LIMITS = f'memory_limit = "512Mi"\npids_limit = 128\ncpu_limit = "{os.cpu_count()}"'


def bundle(place, root):
    """As the launcher writes it, without an init of ours: `true` is pid 1."""
    place.mkdir()
    config = {"ociVersion": "1.0.2", "hostname": "bench", "root": {"path": str(root), "readonly": True},
              "process": {"user": {"uid": 0, "gid": 0}, "args": [TRUE], "cwd": "/", "env": [], "noNewPrivileges": True},
              "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}, {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"}],
              "linux": {"namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")]}}
    (place / "config.json").write_text(json.dumps(config))
    for name in ("proc", "dev"):
        (root / name).mkdir(exist_ok=True)
    return place


class Gvisor:
    """`--network=none`, pipes, the launcher's own flags and the platform that both have."""
    name = "gvisor"

    def missing(self):
        return None if os.access(RUNSC, os.X_OK) else f"no {RUNSC}"

    def service(self, place, programs):
        return Service(place, programs, "gvisor", 4, resources=LIMITS, isolation="gvisor", floor=f"runsc = {RUNSC}\n")

    def words(self, place, turn):
        if turn == 0:
            bundle(place.top / "bundle", place.root)
        return [RUNSC, "--root=/run/runsc", "--platform=ptrace", "--network=none", "--ignore-cgroups", "--host-uds=none", "--host-fifo=none",
                "--net-raw=false", "--overlay2=none", "run", f"--bundle={place.top / 'bundle'}", f"bare{turn}"]


ENGINES = (Gvisor(),)


def measure(engine, programs, pairs):
    """Each turn both, the one that is first by turns; the first turn is not counted: caches are cold."""
    took = {"bare": [], "cordon": []}
    with Place() as place, engine.service(place, programs) as service:
        for turn in range(pairs + 1):
            words = engine.words(place, turn)
            arms = [("bare", lambda words=words: service.order("runsc", *words)), ("cordon", lambda: service.order("cold", TRUE))]
            for name, once in arms if turn % 2 else reversed(arms):
                one = once() / 1000
                if turn > 0:
                    took[name].append(one)
    return took


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", help="a directory; build/release/bin by default, else build/dev/bin")
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--check", action="store_true", help="hold the figures against promises.toml; 1 when one is missed")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("bench tiers: needs root")
    programs = find_programs("tiers", options.programs)
    print(f"programs: {programs}\n{'tier':<9}{'':<9}{'min ms':>9}{'p50 ms':>9}{'p99 ms':>9}{'x bare':>9}")
    figures, ratios = {}, {}
    for engine in ENGINES:
        if why := engine.missing():
            print(f"{engine.name:<9}left out: {why}")
            continue
        took = measure(engine, programs, options.pairs)
        bare = statistics.median(took["bare"])
        for name, values in took.items():
            median = statistics.median(values)
            figures[f"{engine.name}.{name}"] = {"min": min(values), "p50": median, "p99": percentile(values, 0.99)}
            print(f"{engine.name:<9}{name:<9}{min(values):>9.1f}{median:>9.1f}{percentile(values, 0.99):>9.1f}{median / bare:>9.2f}", flush=True)
        ratios[f"{engine.name}_to_bare"] = statistics.median(took["cordon"]) / bare
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"pairs": options.pairs, "figures_ms": figures, "ratios": ratios}, indent=1) + "\n")
    if options.check and not holds("tiers", ratios):
        sys.exit(1)


if __name__ == "__main__":
    main()
