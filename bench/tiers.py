#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a sandbox of a stronger tier costs beside its bare engine: `true` created, run and destroyed through a resident launcher, and by the
engine alone in namespaces of the same kind, in turns: from nothing, and as plans find it that come again and again, with a sandbox that
was started ahead. Of machines also how much sooner one answers that begins as a saved one, on the spot and started ahead, and the memory of
six of those. Needs root; an engine that is not installed is left out."""
import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "harness"))
sys.dont_write_bytecode = True

from initramfs import with_init   # noqa: E402
from places import find_programs, holds, percentile   # noqa: E402
from processes import descendants   # noqa: E402
from service import Place, Service   # noqa: E402

RUNSC = os.environ.get("CORDON_RUNSC", "/usr/bin/runsc")
QEMU = os.environ.get("CORDON_QEMU", "/usr/bin/qemu-system-x86_64")
TRUE = "/usr/bin/true"
# Every processor: the bare engine has them too.
AHEAD = 2   # what a floor has where it says nothing
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


def platform_words():
    """What the launcher's trial comes to here: systrap, where the program knows it."""
    known = subprocess.run([RUNSC, "help", "platforms"], capture_output=True, text=True)
    if "systrap" in (known.stdout + known.stderr).split():
        return ["--platform=systrap", "--directfs=false"]
    return ["--platform=ptrace"]


class Gvisor:
    """`--network=none`, pipes, the launcher's own flags and the platform that both have."""
    name = "gvisor"
    arms = ("bare", "from nothing", "ahead")

    def missing(self):
        return None if os.access(RUNSC, os.X_OK) else f"no {RUNSC}"

    stands_after = 1   # seconds; by then one that is started ahead has a processor for nobody else

    def service(self, place, programs, engines=0):
        return Service(place, programs, f"gvisor-{engines}", 4, resources=LIMITS, isolation="gvisor", floor=f"runsc = {RUNSC}\n",
                       engines=engines)

    def order(self, place, turn):
        if turn == 0:
            bundle(place.top / "bundle", place.root)
        return ["runsc", RUNSC, "--root=/run/runsc", *platform_words(), "--network=none", "--ignore-cgroups", "--host-uds=none", "--host-fifo=none",
                "--net-raw=false", "--overlay2=none", "run", f"--bundle={place.top / 'bundle'}", f"bare{turn}"]


def write_bare_initramfs(kernel, init):
    (kernel / "bare-initramfs").write_bytes(with_init((kernel / "initramfs").read_bytes(), init.read_bytes()))


def bare_words(kernel, size):
    """Of the launcher's own, what is there without ports and a host that listens at them."""
    kilohertz = next(round(float(line.split(":")[1]) * 1000) for line in open("/proc/cpuinfo") if line.startswith("cpu MHz"))
    return ["-M", "microvm,acpi=on,pit=on,pic=on,rtc=on,isa-serial=off,pcie=off,usb=off", "-accel", "tcg,thread=single,tb-size=64", "-cpu", "max",
            "-m", f"{size}M", "-smp", "1", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-kernel", str(kernel / "vmlinux"),
            "-initrd", str(kernel / "bare-initramfs"), "-append",
            "quiet loglevel=0 panic=-1 reboot=t audit=0 apparmor=0 selinux=0 cryptomgr.notests random.trust_cpu=off net.ifnames=0 ipv6.disable=1 rcupdate.rcu_expedited=1 "
            f"tsc_early_khz={kilohertz} tsc=reliable mitigations=off lsm=landlock,yama cgroup_disable=memory psi=0 nowatchdog", "-device", "virtio-serial-device,max_ports=3"]


def shared_memory_of(pids):
    """Bytes that they have for themselves, and their share of what others have too."""
    lines = (line for pid in pids for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines())
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024


def first_answers(service, turns, between=0):
    """Milliseconds from the request to the first word of pid 1. The first turns are not counted: a plan is expected from the third on."""
    took = []
    for turn in range(turns + 2):
        one = service.order("create", 1) / 1000
        service.order("destroy")
        if turn > 1:
            took.append(one)
        time.sleep(between)
    return took


def measure_clones(engine, programs, turns):
    """Those that begin as a saved machine, beside those that start with their kernel."""
    with Place() as place, engine.service(place, programs) as cold, engine.service(place, programs, size=256) as clone, \
            engine.service(place, programs, AHEAD, 256) as ahead:
        answers = {"cold answers": first_answers(cold, turns), "copy answers": first_answers(clone, turns * 3),
                   "copy ahead": first_answers(ahead, turns * 3, engine.stands_after)}
        before = set(descendants(clone.launcher.pid))
        clone.order("create", 6)
        time.sleep(3)
        each = shared_memory_of(set(descendants(clone.launcher.pid)) - before) / 6
        clone.order("destroy")
    return answers, each / 1e6


class Machine:
    """The kernel, drivers and first file system of ours, with an init that runs nothing and ends; of a size of which none is saved."""
    name = "microvm"
    arms = ("bare", "from nothing")   # of this size none is expected to start ahead: see measure_clones
    size = 320
    stands_after = 3

    def missing(self):
        if not os.access(QEMU, os.X_OK):
            return f"no {QEMU}"
        return None if any(pathlib.Path("/boot").glob("vmlinuz-*")) else "no kernel in /boot"

    def service(self, place, programs, engines=0, size=size):
        self.kernel = place.top / "machine"
        if not self.kernel.exists():
            subprocess.run([programs / "cordon", "machine", "build", "--into", self.kernel], check=True, capture_output=True)
            write_bare_initramfs(self.kernel, programs.parent / "bench/bench_bare_init")
        resources = f'memory_limit = "{size}Mi"\npids_limit = 128\ncpu_limit = "{os.cpu_count()}"'
        return Service(place, programs, f"microvm-{size}-{engines}", 8, resources=resources, isolation="microvm",
                       floor=f"qemu = {QEMU}\nmachine = {self.kernel}\n", patience=120, engines=engines)

    def order(self, place, turn):
        script = place.top / "bare.sh"
        if turn == 0:
            script.write_text("#!/bin/sh\nexec " + shlex.join([QEMU, *bare_words(self.kernel, self.size)]) + "\n")
            script.chmod(0o755)
        return ["spawn", str(script)]


ENGINES = (Gvisor(), Machine())


def measure(engine, programs, pairs):
    """Each turn all, the one that is first by turns. The first turns are not counted: caches are cold, and a plan is expected from the
    third on. Nobody is measured while one that is started ahead starts."""
    took = {name: [] for name in engine.arms}
    with Place() as place, engine.service(place, programs) as service, engine.service(place, programs, AHEAD) as expecting:
        for turn in range(pairs + 2):
            order = engine.order(place, turn)
            once = {"bare": lambda order=order: service.order(*order), "from nothing": lambda: service.order("cold", TRUE),
                    "ahead": lambda: expecting.order("cold", TRUE)}
            for name in engine.arms if turn % 2 else reversed(engine.arms):
                one = once[name]() / 1000
                if turn > 1:
                    took[name].append(one)
                if name == "ahead":
                    time.sleep(engine.stands_after)
    return took


def to_bare(took, name):
    """Each beside the bare one of its own turn: a machine that others share is faster in one minute than in the next."""
    return statistics.median(one / bare for one, bare in zip(took[name], took["bare"]))


def show(tier, name, values, beside):
    median = statistics.median(values)
    print(f"{tier:<9}{name:<13}{min(values):>9.1f}{median:>9.1f}{percentile(values, 0.99):>9.1f}{median / statistics.median(beside):>9.2f}", flush=True)
    return {"min": min(values), "p50": median, "p99": percentile(values, 0.99)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", help="a directory; build/release/bin by default, else build/dev/bin")
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--tier", choices=[engine.name for engine in ENGINES], help="only this one")
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--check", action="store_true", help="hold the figures against promises.toml; 1 when one is missed")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("bench tiers: needs root")
    programs = find_programs("tiers", options.programs)
    print(f"programs: {programs}\n{'tier':<9}{'':<13}{'min ms':>9}{'p50 ms':>9}{'p99 ms':>9}{'x bare':>9}")
    figures, ratios = {}, {}
    for engine in ENGINES:
        if options.tier not in (None, engine.name):
            continue
        if why := engine.missing():
            print(f"{engine.name:<9}left out: {why}")
            continue
        # A machine that is translated takes seconds.
        took = measure(engine, programs, options.pairs if engine.name == "gvisor" else max(options.pairs // 2, 3))
        for name, values in took.items():
            figures[f"{engine.name}.{name}"] = show(engine.name, name, values, took["bare"])
        ratios[f"{engine.name}_to_bare"] = to_bare(took, engine.arms[-1])
        if engine.name == "gvisor":
            ratios["gvisor_from_nothing_to_bare"] = to_bare(took, "from nothing")
        if engine.name != "microvm":
            continue
        answers, megabytes = measure_clones(engine, programs, max(options.pairs // 4, 3))
        for name, values in answers.items():
            figures[name] = show(engine.name, name, values, answers["cold answers"])
        cold = statistics.median(answers["cold answers"])
        ratios["copy_sooner"] = cold / statistics.median(answers["copy answers"])
        ratios["copy_ahead_sooner"] = cold / statistics.median(answers["copy ahead"])
        ratios["MB_of_six_copies_each"] = megabytes
        print(f"{engine.name:<9}a copy that is begun when it is asked for answers {ratios['copy_sooner']:.1f} x sooner, one that runs ahead "
              f"{ratios['copy_ahead_sooner']:.1f} x; six have {megabytes:.1f} MB each")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"pairs": options.pairs, "figures_ms": figures, "ratios": ratios}, indent=1) + "\n")
    if options.check and not holds("tiers", ratios):
        sys.exit(1)


if __name__ == "__main__":
    main()
