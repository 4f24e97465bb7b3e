# SPDX-License-Identifier: Apache-2.0
"""Group A from outside: what the host's files look like after the act."""
import os
import pathlib
import stat
import time

from pace import slow
from verdicts import both, counter, failed, held, judge, passed, refused

PROTECTED = [".git/config", ".git/hooks", ".bashrc", ".envrc", ".vscode", ".mcp.json", ".claude/settings.json"]
# Trees that nobody else changes while the suite runs.
WATCHED = ("/etc", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/boot", "/srv", "/var/spool", "/opt")


def policy(**filesystem):
    lines = ["version = 1", "[filesystem]"]
    for key, value in filesystem.items():
        shown = str(value).lower() if isinstance(value, bool) else "[" + ", ".join(f'"{each}"' for each in value) + "]"
        lines.append(f"{key} = {shown}")
    return "\n".join(lines) + "\n"


def state_of(tops=WATCHED):
    """Modes, sizes, times and owners of whole trees, by path."""
    found = {}
    for top in tops:
        for root, _, names in os.walk(top):
            for name in [*names, "."]:
                path = os.path.join(root, name)
                # Another suite beside us plants its canaries too, which also moves the time of the directory.
                if name.startswith(".canary-") or path == "/srv/.":
                    continue
                try:
                    about = os.lstat(path)
                except OSError:
                    continue
                found[path] = (about.st_mode, about.st_size, about.st_mtime_ns, about.st_uid)
    return found


def unchanged(before, tops=WATCHED):
    now = state_of(tops)
    changed = sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
    return held(not changed, f"changed on the host: {changed[:3]}" if changed else f"{len(now)} files of the host compared")


@judge("C002")
def writes_outside(arm):
    before = state_of()
    run = arm.probe("C002", flags=["--live"])
    return both(refused(run, "C002"), unchanged(before))


@counter("C007")
def links_bare(bare):
    """The kernel lets a user link only what is the user's to write, so the foreign file is one of those."""
    source = bare.world.base / "linkable"
    source.write_text("of the host\n")
    os.chown(source, os.stat(bare.directory).st_uid, -1)
    return bare.succeeds("user", "C007", "--source", str(source))


def repository(path, uid):
    hooks = path / ".git/hooks"
    hooks.mkdir(parents=True)
    (hooks / "pre-commit").write_text("#!/bin/sh\n")
    (path / ".git/config").write_text("[core]\n")
    for root, directories, names in os.walk(path):
        for name in directories + names:
            os.chown(os.path.join(root, name), uid, uid)


@judge("C008")
def moves_ancestor(arm):
    here = arm.workspace()
    repository(here, arm.uid)
    run = arm.probe("C008", workspace=here, flags=["--live"], policy=policy(protect=[".git/hooks"]))
    kept = (here / ".git/hooks/pre-commit").read_text() == "#!/bin/sh\n"
    return both(refused(run, "C008"), held(kept, "the hook of the host is unchanged"))


@counter("C008")
def moves_ancestor_bare(bare):
    repository(bare.directory, os.stat(bare.directory).st_uid)
    return bare.succeeds("user", "C008")


@judge("C009")
def creates_protected(arm):
    here = arm.workspace()
    run = arm.probe("C009", workspace=here, flags=["--review"], policy=policy(protect=PROTECTED))
    left = [name for name in PROTECTED if (here / name).exists()]
    discard(arm, run)
    live = arm.run(["--live"], ["./probe", "C286"], workspace=(second := arm.workspace()), policy=policy(protect=PROTECTED))
    refuses = live.code in (125, 126) and not (second / "ran").exists() and "protect" in live.err
    return both(refused(run, "C009"), held(not left, f"on the host afterwards: {left}"),
                held(refuses, f"a live workspace with names that cannot be held: {live.said()}"))


@counter("C009")
def creates_protected_bare(bare):
    return bare.succeeds("user", "C009")


def discard(arm, run):
    """Removes the upper layer that a reviewed run keeps."""
    if run.report and "id" in run.report:
        arm.verb("discard", run.report["id"])


@judge("C010")
def hides_hooks(arm):
    run = arm.probe("C010", flags=["--review"])
    shown = arm.verb("diff", (run.report or {}).get("id", "-"))
    discard(arm, run)
    wanted = ["worktree/.git", "store/hooks/post-checkout", "nested/.git/hooks/pre-commit", "bare/config"]
    lines = shown.out.splitlines()
    unflagged = [name for name in wanted if not any(name in line and "!" in line for line in lines)]
    # What could not be made at all need not be flagged.
    made = [name for name in unflagged if any(name in line for line in lines)]
    return both(refused(run, "C010"), held(shown.code == 0 and not made, f"not flagged: {made}; {shown.said()}"))


@judge("C011")
def other_spellings(arm):
    here = arm.workspace()
    hidden = here / "hidden.pem"
    hidden.write_text(arm.world.mark)
    hidden.chmod(0o644)
    return refused(arm.probe("C011", workspace=here, flags=["--live"], policy=policy(hide=["**/*.pem"])), "C011")


@judge("C016")
def set_id_bits(arm):
    here = arm.workspace()
    run = arm.probe("C016", workspace=here, flags=["--live"])
    marked = [path.name for path in here.iterdir() if stat.S_IMODE(path.lstat().st_mode) & 0o6000]
    return both(refused(run, "C016"), held(not marked, f"set-id on the host: {marked}"))


@counter("C016")
def set_id_bits_bare(bare):
    return bare.succeeds("user", "C016")


@judge("C017")
def stalls_readers(arm):
    here = arm.workspace()
    child, _ = arm.start(["--live", "--time", "20s"], ["./probe", "C017", "--hold", "2", *arm.words()], here)
    time.sleep(1)
    begin = time.monotonic()
    slowest = "none"
    for path in (here / "leased", arm.world.source, pathlib.Path("/usr/bin/env")):
        try:
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        except OSError as error:
            slowest = f"{path.name}: {error.strerror}"
    waited = time.monotonic() - begin
    child.communicate(timeout=slow(30))
    after = time.monotonic()
    (here / "leased").exists() and (here / "leased").read_bytes()
    waited = max(waited, time.monotonic() - after)
    return held(waited <= 2, f"a reader of the host waited {waited:.2f} s ({slowest})")


@judge("C021")
def layers(arm):
    """Its mount must have the flags of every other too, which C057 asks for where there is one."""
    outcomes = []
    for row in ("C021", "C057"):
        run = arm.probe(row, flags=["--review"])
        discard(arm, run)
        outcomes.append(refused(run, row))
    return both(*outcomes)


@judge("C196")
def deceiving_names(arm):
    run = arm.probe("C196", flags=["--review"])
    shown = arm.verb("diff", (run.report or {}).get("id", "-"))
    discard(arm, run)
    raw = sorted({ord(c) for c in shown.out if (ord(c) < 0x20 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 or c == "\u202e"})
    return both(refused(run, "C196"), held(shown.code == 0 and not raw, f"raw in the listing: {raw}; {shown.said()}"))


@judge("C248")
def comes_back(arm):
    (arm.home / ".bashrc").write_text("# of the user\n")
    watched = (*WATCHED, str(arm.home))
    before = state_of(watched)
    run = arm.probe("C248", "--home", str(arm.home))
    return both(refused(run, "C248"), unchanged(before, watched))


@judge("C249")
def hard_to_remove(arm):
    begin = time.monotonic()
    run = arm.probe("C249", "--place", "/tmp", flags=["--time", "20s"], timeout=60)
    intact = all(path.read_text().strip() == arm.world.mark for path in arm.world.canaries)
    took = time.monotonic() - begin
    if took > slow(30):
        return failed(f"ended after {took:.1f} s")
    return both(refused(run, "C249"), held(intact, "canaries behind links are intact"), passed(f"ended after {took:.1f} s"))
