# SPDX-License-Identifier: Apache-2.0
"""The same probes without a fence, in the mildest setting that gives the act a meaning. None of them changes the host:
acts are bounded, values are written back as they are, and what runs as root does so over throw-away overlays."""
import json
import os
import shutil
import subprocess

from pace import slow
from world import SCRATCH_UID

# Over each of these trees root sees its own layer in memory, gone with the mount namespace; all else but its directory is
# read-only.
OVERLAID = "usr etc root home srv opt boot var/spool var/lib bin sbin lib"
THROW_AWAY = f"""
set -e
mount --make-rprivate /
mount -t tmpfs none /mnt
for tree in {OVERLAID}; do
  [ -d /$tree ] && [ ! -L /$tree ] || continue
  mkdir -p /mnt/$tree/upper /mnt/$tree/work
  mount -t overlay none -o lowerdir=/$tree,upperdir=/mnt/$tree/upper,workdir=/mnt/$tree/work /$tree
done
mount --bind "$0" "$0"
mount -o remount,bind,ro /
cd "$0"
"$@"
"""


class Bare:
    """The host without a sandbox, as the counter-arms use it."""

    def __init__(self, world):
        self.world = world
        self.victim = world.process(SCRATCH_UID)
        self.directory = world.base / "bare"
        self.directory.mkdir(mode=0o755)
        os.chown(self.directory, SCRATCH_UID, SCRATCH_UID)
        shutil.copy(world.probe, self.directory / "probe")
        shutil.copy(world.inodes, self.directory / "inodes")

    def prefix(self, setting):
        user = ["setpriv", f"--reuid={SCRATCH_UID}", f"--regid={SCRATCH_UID}", "--clear-groups"]
        if setting == "user":
            return user
        if setting == "box":
            plain = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--net", "--ipc", "--uts"]
            return [*user, *plain, "sh", "-c", '"$@"; exit $?', "sh"]
        assert setting == "root"
        own = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--net", "--ipc", "--uts"]
        return [*own, "sh", "-c", THROW_AWAY, str(self.directory)]

    def run(self, setting, arguments, timeout=120, **how):
        how.setdefault("stdin", subprocess.DEVNULL)
        how.setdefault("cwd", self.directory)
        done = subprocess.run([*self.prefix(setting), "./probe", *arguments], capture_output=True, timeout=slow(timeout), start_new_session=True,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.directory), "LANG": "C.UTF-8"}, **how)
        return done

    def words(self):
        return [*self.world.words(self.victim.pid), "--inodes", "inodes", "--home", str(self.directory)]

    def answers(self, setting, rows):
        """Each row's answer in one go."""
        done = self.run(setting, ["--batch", ",".join(rows), *self.words()])
        found = {}
        for line in done.stdout.decode(errors="replace").splitlines():
            if line.startswith('{"row":'):
                answer = json.loads(line)
                found[answer["row"]] = answer
        return found

    def answer(self, setting, row, *words, **how):
        done = self.run(setting, [row, *self.words(), *words], **how)
        for line in done.stdout.decode(errors="replace").splitlines():
            if line.startswith('{"row":'):
                return json.loads(line)
        return {"row": row, "outcome": "broken", "detail": f"no answer, exit {done.returncode}", "checks": []}

    def succeeds(self, setting, row, *words, **how):
        answer = self.answer(setting, row, *words, **how)
        return answer["outcome"] == "succeeded", answer["detail"]
