# SPDX-License-Identifier: Apache-2.0
"""Real tools under `strict`, in a workspace of the caller's: what they make is the caller's, and nothing is left elsewhere."""
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "callers"))

from caller import PATH  # noqa: E402
from check import Skip, equal, expect, main  # noqa: E402

SCRIPTS = HERE.parent / "filter" / "tools"
PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/home", "/root")


def entries():
    """What lies in places where a tool could leave something, by device and number: names say nothing about ours."""
    return {place: set(os.listdir(place)) for place in PLACES if os.path.isdir(place)}


def flags_for(needs, caller):
    """Flags that show the tool inside; none where it is a part of the system."""
    if shutil.which(needs, path=PATH):
        return []
    if needs == "rustc" and shutil.which("rustc") and caller.uid == 0:
        tree = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True).stdout.strip()
        return ["--allow-read", tree, "--env", f"PATH={tree}/bin:{PATH}"]
    raise Skip(f"no {needs} in {PATH}")


def owners(top):
    """Who owns what was made there, as the host sees it."""
    found = {}
    for root, directories, files in os.walk(top):
        for name in directories + files:
            about = os.lstat(os.path.join(root, name))
            found.setdefault((about.st_uid, about.st_gid), os.path.join(root, name))
    return found


def tool(script):
    needs = next(line.removeprefix("# needs: ").strip() for line in script.read_text().splitlines() if line.startswith("# needs: "))

    def act(caller):
        flags = flags_for(needs, caller)
        shutil.copy(script, caller.workspace / "script.sh")
        os.chown(caller.workspace / "script.sh", caller.uid, caller.uid)
        mark = f"cordon-mark-{os.getpid()}"
        made_in = ["sh", "-c", f"sh -eu script.sh && touch made-{mark} /tmp/{mark} /var/tmp/{mark} \"$HOME/{mark}\""]
        ended = caller.run(["--profile", "strict", *flags], made_in, timeout=150)
        expect(ended.code == 0, f"exit {ended.code}:", ended.out.decode(errors="replace")[-1500:], ended.err.decode(errors="replace")[-1500:])
        equal(ended.out.decode().splitlines()[-1], "done", "the last line")
        equal(ended.said, [], "Cordon's own words")
        seccomp = next(one for one in ended.report["enforcement"]["mechanisms"] if one["name"] == "seccomp")
        expect(seccomp["hold"] == "held" and seccomp["detail"].startswith("strict"), seccomp)
        expect((caller.workspace / f"made-{mark}").exists(), "what the sandbox made is not in the workspace")
        strangers = {owner: path for owner, path in owners(caller.workspace).items() if owner != (caller.uid, caller.uid)}
        equal(strangers, {}, "files of somebody else in the workspace")
        left = [f"{place}/{name}" for place, names in entries().items() for name in names if mark in name]
        equal(left, [], "files outside of the workspace")
        expect(not (caller.home / mark).exists(), "a file in the caller's home")
        return f"{sum(len(files) for _, _, files in os.walk(caller.workspace))} files"

    return act


CHECKS = {script.stem: tool(script) for script in sorted([*SCRIPTS.glob("*.sh"), *HERE.glob("*.sh")])}

if __name__ == "__main__":
    main(CHECKS)
