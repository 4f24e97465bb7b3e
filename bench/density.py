#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an idle sandbox costs in memory, thousands at once, beside bare sets of the same namespaces and groups; and how long their end takes."""
import argparse
import json
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "harness"))
sys.dont_write_bytecode = True

from places import find_programs, promises   # noqa: E402
from service import LIMITS, Place, Service   # noqa: E402

# Components that grow with sandboxes. What can be dropped (page cache, reclaimable slab) is reported beside.
PARTS = ("AnonPages", "SUnreclaim", "PageTables", "KernelStack", "Percpu", "Shmem")


def memory():
    with open("/proc/meminfo") as file:
        return {line.split(":")[0]: int(line.split()[1]) for line in file}


def settled():
    """What /proc/meminfo says when it has stood still for a moment: much is freed late."""
    last = memory()
    for _ in range(40):
        time.sleep(0.25)
        now = memory()
        if abs(now["SUnreclaim"] - last["SUnreclaim"]) < 256 and abs(now["Percpu"] - last["Percpu"]) < 64:
            return now
        last = now
    return last


def each(before, after, count):
    parts = {part: (after[part] - before[part]) / count for part in PARTS}
    return {"KiB": sum(parts.values()), **parts, "SReclaimable": (after["SReclaimable"] - before["SReclaimable"]) / count,
            "MemAvailable": (before["MemAvailable"] - after["MemAvailable"]) / count}


def show(name, row):
    print(f"{name:<34}{row['KiB']:7.0f} KiB  " + " ".join(f"{part} {row[part]:.0f}" for part in (*PARTS, "SReclaimable", "MemAvailable")), flush=True)


def measure(place, programs, count, limited):
    name = "memory group" if limited else "no memory group"
    resources = LIMITS if limited else 'pids_limit = 128\ncpu_limit = "1"'
    with Service(place, programs, name.replace(" ", "-"), 4, resources, ranges=count + 200) as service:
        service.order("create", 20)     # what the first ones need once
        service.order("destroy")
        before = settled()
        service.order("bare", count, int(limited))
        bare = each(before, settled(), count)
        show(f"{count} bare sets, {name}", bare)
        service.order("drop")
        before = settled()
        took = service.order("create", count) / 1e6
        time.sleep(4)       # a spawner with nothing to do ends after two seconds
        cordon = each(before, settled(), count)
        show(f"{count} sandboxes, {name}", cordon)
        began = time.monotonic()
        answered = service.order("ask")
        print(f"  created in {took:.1f} s; {answered:.0f} answered, in {time.monotonic() - began:.1f} s", flush=True)
        cordon["answered"] = answered
        cordon["end_seconds"] = service.order("end") / 1e6
        print(f"  ended in {cordon['end_seconds']:.2f} s", flush=True)
    return {"bare": bare, "cordon": cordon}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", help="a directory; build/release/bin by default, else build/dev/bin")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--check", action="store_true", help="hold the figures against promises.toml; 1 when one is missed")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("bench density: a service needs root")
    programs = find_programs("density", options.programs)
    with Place() as place:
        figures = {name: measure(place, programs, options.count, limited) for name, limited in (("without", False), ("with", True))}
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")
    if not options.check:
        return
    promised, held = promises("density"), True
    for name, rows in figures.items():
        cordon = rows["cordon"]
        for what, value in ((f"KiB_{name}_memory_group", cordon["KiB"]), ("to_bare", cordon["KiB"] / rows["bare"]["KiB"]),
                            ("end_seconds", cordon["end_seconds"]), ("unanswered", options.count - cordon["answered"])):
            kept = value <= promised[what]["most"]
            held = held and kept
            print(f"{'held' if kept else 'BROKEN'}: {name} a memory group: {what} {value:.2f}, at most {promised[what]['most']}")
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
