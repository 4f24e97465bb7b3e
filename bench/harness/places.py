# SPDX-License-Identifier: Apache-2.0
"""What every benchmark of whole programs needs: the programs, a directory of a user's own, and figures from samples."""
import contextlib
import os
import pathlib
import shutil
import sys
import tempfile
import tomllib

BENCH = pathlib.Path(__file__).resolve().parent.parent
UID = 47_310        # of the ordinary user; no account has it


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def find_programs(bench, given):
    """The directory of cordon and its programs: the one that was given, else that of a build."""
    top = BENCH.parent
    places = [pathlib.Path(given)] if given else [top / "build/release/bin", top / "build/dev/bin"]
    for place in places:
        if all((place / name).exists() for name in ("cordon", "cordon-launcher", "cordon-init")):
            return place.resolve()
    sys.exit(f"bench {bench}: no cordon, cordon-launcher and cordon-init in " + " or ".join(map(str, places)))


def promises(bench):
    return tomllib.loads((BENCH / "promises.toml").read_text())[bench]


def holds(bench, figures):
    """Says of each promise whether it is kept; one that was not measured is not."""
    promised, held = promises(bench), True
    for what, value in figures.items():
        if what not in promised:
            continue
        least, most = promised[what].get("least"), promised[what].get("most")
        kept = (least is None or value >= least) and (most is None or value <= most)
        held = held and kept
        print(f"{'held' if kept else 'BROKEN'}: {what} {value:.2f}, {f'at least {least}' if least is not None else f'at most {most}'}")
    missing = [what for what in promised if what not in figures]
    if missing:
        print("BROKEN: not measured:", *missing)
    return held and not missing


def callers():
    """The ids as which is measured: root can be both."""
    return (0, UID) if os.geteuid() == 0 else (os.geteuid(),)


@contextlib.contextmanager
def own_directory(uid):
    """A new directory of that user, removed at the end."""
    base = pathlib.Path(tempfile.mkdtemp(prefix="cordon-bench-", dir="/var/tmp"))
    try:
        base.chmod(0o755)
        if os.geteuid() == 0:
            os.chown(base, uid, uid)
        yield base
    finally:
        shutil.rmtree(base, ignore_errors=True)
