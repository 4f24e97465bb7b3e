# SPDX-License-Identifier: Apache-2.0
"""Inside the guest: says on what it runs, then runs the suites named, and sums up what each row and check came to."""
import collections
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path("/cordon")
BIN, TESTS = HERE / "bin", HERE / "tests"


def text(path):
    return pathlib.Path(path).read_text().strip()


def landlock_abi():
    return ctypes.CDLL(None).syscall(444, None, 0, 1)


def about():
    """What the suites run on."""
    print(f"== the machine\nkernel      {text('/proc/version')}")
    print(f"processors  {os.cpu_count()}, memory {os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') >> 20} MiB")
    print(f"cgroups     {' '.join(line.split()[2] + ' at ' + line.split()[1] for line in text('/proc/mounts').splitlines() if 'cgroup' in line)}")
    print(f"controllers {text('/sys/fs/cgroup/cgroup.controllers')}; we are in {text('/proc/self/cgroup')}")
    print(f"Landlock    ABI {landlock_abi()}; security modules: {text('/sys/kernel/security/lsm') or 'not shown'}", flush=True)


def follow(words, keep=lambda line: None):
    """Runs a suite, shows its lines as they come, gives its exit code."""
    child = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    for line in child.stdout:
        print(line, end="", flush=True)
        keep(line.rstrip("\n"))
    return child.wait()


def doctor(_):
    """What `cordon doctor` says of this host, to root and to an ordinary user."""
    for name, become in (("root", []), ("user", ["setpriv", "--reuid=47111", "--regid=47111", "--clear-groups"])):
        print(f"== cordon doctor, as {name}", flush=True)
        follow([*become, "env", "HOME=/tmp", BIN / "cordon", "doctor"])
    return 0


def containment(words):
    """The P0 rows in all arms, or what `words` ask for; then one line for each row."""
    asked = words or ["--priority", "P0"]
    print(f"== tests/containment {' '.join(asked)}", flush=True)
    found = pathlib.Path("/var/tmp/containment.json")
    code = follow([sys.executable, TESTS / "containment/run.py", "--cordon", BIN / "cordon", "--probe", BIN / "probe", "--mask", BIN / "mask",
                   "--work", "/var/tmp/containment-work", "--json", found, *asked])
    if not found.exists():
        return code or 1
    rows, titles, arms = collections.defaultdict(dict), {}, []
    for each in json.loads(found.read_text()):
        rows[each["row"]][each["arm"]] = each["outcome"]
        titles[each["row"]] = each["title"]
        if each["arm"] not in arms:
            arms.append(each["arm"])
    print("== each row: " + " ".join(arms))
    for row, outcomes in sorted(rows.items()):
        print(f"{row}  " + " ".join(f"{outcomes.get(arm, '-'):<4}" for arm in arms) + f"  {titles[row]}")
    return code


def limits(words):
    """Every limits test, as root and as an ordinary user, but those that compare latencies, which are the emulator's here."""
    code, counts = 0, collections.Counter()

    def keep(line):
        if found := re.match(r"(pass|skip|FAIL)  \S+ +(root|user) ", line):
            counts[f"{found[2]} {found[1]}"] += 1

    for file in ("run.py", "disk.py"):
        print(f"== tests/limits/{file}", flush=True)
        listed = subprocess.run([sys.executable, TESTS / "limits" / file, BIN, "--list"], stdout=subprocess.PIPE, text=True, check=True)
        names = [name for name in listed.stdout.split() if (name in words if words else not name.startswith("neighbour_of_"))]
        if names:
            code |= follow([sys.executable, TESTS / "limits" / file, BIN, *names], keep) not in (0, 77)
    print("limits: " + ", ".join(f"{count} {name}" for name, count in sorted(counts.items())))
    return code


def service(words):
    """The launcher as a service: its groups, its pools, and what survives which death."""
    print("== tests/service", flush=True)
    built = pathlib.Path(os.environ["CORDON_BUILT_AT"])      # where the test looks for its programs
    built.parent.mkdir(parents=True, exist_ok=True)
    built.symlink_to(BIN)
    return follow([BIN / "service_root_test", "--gtest_color=no", *words])


SUITES = {"doctor": doctor, "containment": containment, "limits": limits, "service": service}


def main():
    subprocess.run(["mount", "-t", "securityfs", "none", "/sys/kernel/security"], check=False)
    about()
    print(f"vm: clock {time.monotonic()}", flush=True)
    code = 0
    names = sys.argv[1:2] or list(SUITES)
    for name in names:
        begin = time.monotonic()
        wrong = SUITES[name](sys.argv[2:]) != 0
        code |= wrong
        print(f"({name}: {'FAILED' if wrong else 'passed'}, {(time.monotonic() - begin) / 60:.1f} min)", flush=True)
        print(f"vm: clock {time.monotonic()}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
