# SPDX-License-Identifier: Apache-2.0
"""`cordon run --review`, then diff, apply and discard: the workspace changes by apply alone, and then into what the sandbox saw."""
import json
import os
import pathlib
import stat
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "callers"))

from check import equal, expect, main  # noqa: E402

# Every kind of change; the last lines say what the sandbox itself sees in the end.
ACTS = """
echo more >>text
printf '\\001\\002' >binary
rm deleted
rm -r tree
mv old renamed
mv moved.d moved.e
chmod 755 script
chmod 700 closed
mkdir -p made/below
echo new >made/below/file
ln -s text link
ln -sfn elsewhere turned
rm becomes && mkdir becomes && echo in >becomes/in
echo 'a b' >'with space'
printf 'x' >"$(printf 'esc\\033[31m')"
python3 - <<'X'
import hashlib, json, os, stat
found = {}
for root, directories, files in os.walk('.'):
    for name in directories + files:
        path = os.path.relpath(os.path.join(root, name), '.')
        about = os.lstat(path)
        if stat.S_ISLNK(about.st_mode): found[path] = ['link', os.readlink(path)]
        elif stat.S_ISDIR(about.st_mode): found[path] = ['directory', about.st_mode & 0o777]
        else: found[path] = ['file', about.st_mode & 0o777, hashlib.sha256(open(path, 'rb').read()).hexdigest()]
print(json.dumps(found))
X
"""


def seen(top):
    """The same for the host's side of it."""
    import hashlib
    found = {}
    for root, directories, files in os.walk(top):
        for name in directories + files:
            path = pathlib.Path(root, name)
            about = path.lstat()
            key = str(path.relative_to(top))
            if stat.S_ISLNK(about.st_mode):
                found[key] = ["link", os.readlink(path)]
            elif stat.S_ISDIR(about.st_mode):
                found[key] = ["directory", about.st_mode & 0o777]
            else:
                found[key] = ["file", about.st_mode & 0o777, hashlib.sha256(path.read_bytes()).hexdigest()]
    return found


def fill(caller):
    here = caller.workspace
    (here / "tree" / "deep").mkdir(parents=True)
    (here / "moved.d").mkdir()
    for name in ("text", "binary", "deleted", "old", "script", "closed", "becomes", "kept", "tree/a", "tree/deep/b", "moved.d/m"):
        (here / name).write_text(f"{name}\n")
    (here / "turned").symlink_to("text")
    for root, directories, files in os.walk(here):
        for name in directories + files:
            os.chown(os.path.join(root, name), caller.uid, caller.uid, follow_symlinks=False)


def changed(caller):
    """A filled workspace, what it was, and a run that changed it; the run's id."""
    fill(caller)
    before = seen(caller.workspace)
    ended = caller.run(["--review"], ["sh", "-eu", "-c", ACTS])
    equal(ended.code, 0, ended.err)
    equal(seen(caller.workspace), before, "the workspace after the run")
    expect(any("cordon diff " + ended.report["review"] in line for line in ended.said), ended.said)
    return before, json.loads(ended.out), ended.report["review"]


def verb(caller, *words, code=0):
    done = caller.verb(*words)
    equal(done.returncode, code, *words, done.stderr)
    return done.stdout.decode(errors="replace")


def runs(caller):
    place = caller.home / ".local" / "state" / "cordon" / "runs"
    return sorted(os.listdir(place)) if place.exists() else []


def diff_lists_deletions_first(caller):
    _, _, run = changed(caller)
    lines = verb(caller, "diff", run).splitlines()
    letters = [line.split()[0] for line in lines[1:]]
    deleted = letters.count("D")
    equal(letters[:deleted], ["D"] * deleted, "the first lines", lines)
    told = {line.split()[1]: line.split()[0] for line in lines[1:]}
    wanted = {"deleted": "D", "tree": "D", "old": "D", "moved.d": "D", "text": "M", "binary": "M", "renamed": "A", "moved.e/m": "A",
              "script": "P", "closed": "P", "made/below/file": "A", "link": "A"}
    equal({path: told.get(path) for path in wanted}, wanted, lines)
    expect("kept" not in told, lines)
    expect("\x1b" not in "\n".join(lines), "an escape sequence of the sandbox reaches the terminal")
    expect("directory with 3 entries" in "\n".join(lines), lines)
    document = json.loads(verb(caller, "diff", "--json", run))
    kinds = [change["kind"] for change in document["changes"]]
    equal(kinds[:kinds.count("deleted")], ["deleted"] * kinds.count("deleted"))
    patch = verb(caller, "diff", run, "-p", "text")
    expect("+more" in patch, patch)
    return f"{len(lines) - 1} lines"


def apply_all_gives_what_was_seen(caller):
    _, inside, run = changed(caller)
    verb(caller, "apply", run, "--all")
    equal(seen(caller.workspace), inside, "the workspace after apply")
    for root, directories, files in os.walk(caller.workspace):
        for name in directories + files:
            about = os.lstat(os.path.join(root, name))
            equal((about.st_uid, about.st_gid), (caller.uid, caller.uid), name)
    equal(runs(caller), [], "runs left")
    verb(caller, "diff", run, code=4)


def apply_of_some(caller):
    before, inside, run = changed(caller)
    verb(caller, "apply", run, "text", "deleted", "made")
    now = seen(caller.workspace)
    equal(now["text"], inside["text"])
    equal(now.get("made/below/file"), inside["made/below/file"])
    expect("deleted" not in now, "a deletion was not applied")
    equal((now["binary"], now["script"], now["old"]), (before["binary"], before["script"], before["old"]), "what was not named")
    verb(caller, "apply", run, "--all")
    equal(seen(caller.workspace), inside, "after the rest")
    equal(runs(caller), [], "runs left")


def discard_changes_nothing(caller):
    before, _, run = changed(caller)
    equal(runs(caller), [run])
    verb(caller, "discard", run)
    equal(seen(caller.workspace), before)
    equal(runs(caller), [], "runs left")
    verb(caller, "apply", run, "--all", code=4)


def conflict_is_not_overwritten(caller):
    _, inside, run = changed(caller)
    (caller.workspace / "text").write_text("somebody was faster\n")
    done = caller.verb("apply", run, "--all")
    expect(done.returncode != 0, "a conflict was not told", done.stdout)
    equal((caller.workspace / "text").read_text(), "somebody was faster\n")
    equal(runs(caller), [run], "the run with what is left")
    verb(caller, "apply", run, "--all", "--force")
    equal(seen(caller.workspace), inside)


def killed_run_keeps_its_layer(caller):
    """The layer is the caller's work: it outlives kill -9 of cordon itself."""
    fill(caller)
    child, _ = caller.start(["--review"], ["sh", "-c", "echo more >>text; sync; echo up; exec sleep 1000"])
    equal(child.stdout.readline(), b"up\n")
    kept = runs(caller)
    equal(len(kept), 1)
    equal(caller.verb("apply", kept[0], "--all").returncode != 0, True, "apply while it runs")
    child.kill()
    child.communicate()
    from caller import survivors
    equal(survivors(5), [], "processes left")
    expect(" M  text" in verb(caller, "diff", kept[0]), "the change is lost")
    verb(caller, "apply", kept[0], "--all")
    equal((caller.workspace / "text").read_text(), "text\nmore\n")


def nothing_changed(caller):
    fill(caller)
    ended = caller.run(["--review"], ["cat", "text"])
    equal(ended.code, 0)
    expect("no changes" in verb(caller, "diff"), "the newest run here")


CHECKS = {act.__name__: act for act in (diff_lists_deletions_first, apply_all_gives_what_was_seen, apply_of_some, discard_changes_nothing,
                                        conflict_is_not_overwritten, killed_run_keeps_its_layer, nothing_changed)}

if __name__ == "__main__":
    main(CHECKS)
