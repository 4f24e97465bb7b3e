# SPDX-License-Identifier: Apache-2.0
"""The behaviour tests of the process tier behind another wall: `conform.py PROGRAMS TIER [--suite NAME...] [--as CALLER]`.

Each check passes there too, or is named in differences.toml with the reason; one that is named and passes is a failure as well."""
import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent
# By name: the file, and whether it is told who calls.
SUITES = {
    "run": ("run/run.py", True),
    "review": ("review/run.py", True),
    "terminal": ("terminal/run.py", True),
    "limits": ("limits/run.py", True),
    "api": ("cordond/api.py", False),
    "stream": ("cordond/stream.py", False),
    "trees": ("cordond/trees.py", False),
    "ports": ("cordond/ports.py", False),
    "events": ("cordond/events.py", False),
    "cp": ("cordond/cp.py", False),
    "cli": ("cordond/cli.py", False),
    "life": ("cordond/life.py", False),
    "network": ("cordond/network.py", False),
    "pause": ("cordond/pause.py", False),
}


def names_of(file, programs):
    listed = subprocess.run([sys.executable, file, programs, "--list"], capture_output=True, text=True, cwd=file.parent)
    return listed.stdout.split()


def outcome(file, programs, tier, name, caller):
    words = [sys.executable, file, programs, *([name] if name else []), *(["--as", caller] if caller else [])]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=file.parent,
                             env={**os.environ, "CORDON_TEST_ISOLATION": tier}, start_new_session=True)
    try:
        said, _ = child.communicate(timeout=240)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        said, _ = child.communicate()
        return "FAIL", said + "\nno end within 240 s"
    return {0: "pass", 77: "skip"}.get(child.returncode, "FAIL"), said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("tier")
    parser.add_argument("--suite", action="append", choices=SUITES)
    parser.add_argument("--as", dest="caller", default="root")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit(77)
    differences = tomllib.loads((HERE / "differences.toml").read_text()).get(options.tier, {})
    place = tempfile.TemporaryDirectory(dir="/var/tmp", prefix="cordon-machine-")
    if options.tier == "microvm":
        built = subprocess.run([pathlib.Path(options.programs) / "cordon", "machine", "build", "--into", place.name], capture_output=True)
        if built.returncode != 0:
            sys.exit(77)
        os.environ["CORDON_MACHINE"] = place.name
        # Instructions are translated wherever no processor helps.
        os.environ.setdefault("CORDON_TEST_SLOWNESS", "4")
    counts, wrong = collections.Counter(), []
    for suite in options.suite or SUITES:
        file, has_caller = TESTS / SUITES[suite][0], SUITES[suite][1]
        caller = options.caller if has_caller else None
        if caller is None and options.caller != "root":
            continue
        for name in names_of(file, options.programs):
            begin = time.monotonic()
            word, said = outcome(file, options.programs, options.tier, name, caller)
            reason = differences.get(suite, {}).get(name)
            if word == "FAIL" and reason:
                word = "differs"
            elif word == "FAIL" or (word == "pass" and reason and caller != "user"):
                wrong.append(f"{suite}.{name}")
                print(said[-3000:] if word == "FAIL" else f"{suite}.{name} is named in differences.toml, and passes", flush=True)
            counts[word] += 1
            print(f"{word:8} {suite}.{name:<36} {time.monotonic() - begin:6.1f} s  {reason or ''}", flush=True)
    whole = counts["pass"] + counts["differs"] + counts["FAIL"]
    print(f"{options.tier}: {counts['pass']} of {whole} are the same ({100 * counts['pass'] / max(whole, 1):.1f} %), "
          f"{counts['differs']} differ as listed, {counts['skip']} not to be had here; wrong: {' '.join(wrong) or 'none'}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
