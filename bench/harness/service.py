# SPDX-License-Identifier: Apache-2.0
"""A launcher as a service with a small root of its own, and bench_node before it."""
import contextlib
import os
import re
import shutil
import subprocess
import time

from places import own_directory

FIRST_ID = 1_610_612_736    # of the sandboxes' ids; nobody else's


def libraries_of(program):
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(/\S+) \(0x", said)


def make_root(top, programs=("/usr/bin/true", "/bin/sh", "/usr/bin/sleep")):
    """A root as an image has it: programs and their libraries, copied."""
    for name in ("usr/bin", "usr/lib", "usr/lib64", "etc"):
        (top / name).mkdir(parents=True)
    for name in ("bin", "lib", "lib64"):
        (top / name).symlink_to(f"usr/{name}")
    for program in programs:
        for file in [program, *libraries_of(program)]:
            place = top / os.path.realpath(os.path.dirname(file)).lstrip("/") / os.path.basename(file)
            place.parent.mkdir(parents=True, exist_ok=True)
            if not place.exists():
                shutil.copy(file, place)
    subprocess.run(["ldconfig", "-r", top], check=True)
    (top / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n")


POLICY = """
version = 1
isolation = "{isolation}"
[filesystem]
root = "dir:{root}"
workspace = "/workspace"
[resources]
{resources}
"""
LIMITS = 'memory_limit = "512Mi"\npids_limit = 128\ncpu_limit = "1"'


class Place(contextlib.ExitStack):
    """A directory of the run's own with a root in it; removed at the end with all that it holds."""

    def __enter__(self):
        super().__enter__()
        self.top = self.enter_context(own_directory(0))
        self.root = self.top / "root"
        make_root(self.root)
        return self


class Service:
    """`pools`: how many network namespaces and groups are made ahead; `engines`: how many sandboxes behind an engine. `isolation`,
    `floor`: of the policy and of the launcher, beyond that. `patience`: seconds for a launcher that tries engines."""

    def __init__(self, place, programs, name, pools, resources=LIMITS, ranges=64, isolation="process", floor="", patience=5, engines=0):
        self.place, self.programs, self.name, self.pools, self.ranges = place, programs, name, pools, ranges
        self.text = POLICY.format(root=place.root, resources=resources, isolation=isolation)
        self.more, self.patience, self.engines = floor, patience, engines

    def __enter__(self):
        home = self.place.top / self.name
        (home / "run").mkdir(parents=True)
        socket, floor, policy = home / "run/launcher", home / "floor", home / "policy.toml"
        floor.write_text(f"node_uid = 0\nfirst_id = {FIRST_ID}\nranges = {self.ranges}\nsource = {self.place.root}\n"
                         f"networks_ahead = {self.pools}\ngroups_ahead = {self.pools}\nsandboxes_ahead = {self.pools}\n"
                         f"engines_ahead = {self.engines}\n{self.more}")
        policy.write_text(self.text)
        self.launcher = subprocess.Popen([self.programs / "cordon-launcher", "--socket", socket, "--floor", floor])
        try:
            until = time.monotonic() + self.patience
            while not socket.exists():
                if self.launcher.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"bench: the launcher {self.name} did not come up")
                time.sleep(0.01)
            self.node = subprocess.Popen([self.programs.parent / "bench/bench_node", socket, policy],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            if hasattr(self, "node"):
                with contextlib.suppress(OSError):
                    self.node.stdin.close()
                self.node.wait(60)
        finally:
            self.launcher.terminate()
            self.launcher.wait(60)

    def order(self, *words):
        """What bench_node answers: microseconds, or what its order says."""
        self.node.stdin.write(" ".join(map(str, words)) + "\n")
        self.node.stdin.flush()
        answer = self.node.stdout.readline().strip()
        try:
            return float(answer)
        except ValueError:
            raise RuntimeError(f"bench_node {words[0]}: {answer or 'no answer'}") from None
