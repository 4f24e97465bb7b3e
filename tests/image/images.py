#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images from where they are into sandboxes. `images.py PROGRAMS [--as root|user]... [NAME...]` Exit: 0 all passed; 1 otherwise; 77 where it cannot run."""
import argparse
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cordond"), str(HERE.parent / "callers")]

from api import equal, expect            # noqa: E402
from daemon import Daemon                # noqa: E402
from hostile import UID, Store           # noqa: E402
from layers import Layer, layout, small_root   # noqa: E402


class Caller(Store):
    """Of `cordon image` and of `cordon run`."""

    def __init__(self, programs, base, uid):
        super().__init__(programs, base, uid)
        self.count = 0

    def place(self):
        self.count += 1
        path = self.base / f"place{self.count}"
        path.mkdir(mode=0o755)
        os.chown(path, self.uid, self.uid)
        return path

    def image(self, *words):
        done = self.run("image", *words)
        equal(done.returncode, 0, words, done.stderr[-600:])
        return json.loads(done.stdout) if "--json" in words else done.stdout

    def refused(self, *words):
        done = self.run("image", *words)
        expect(done.returncode != 0, words, done.stdout)
        return done.stderr

    def inside(self, name, *command, code=0):
        workspace = self.place()
        policy = workspace / "policy.toml"
        policy.write_text(f'version = 1\n[filesystem]\nroot = "image:{name}"\n')
        policy.chmod(0o644)
        done = self.run("run", "--quiet", "--workspace", str(workspace), "--policy", str(policy), "--", *command)
        equal(done.returncode, code, command, done.stdout[-300:], done.stderr[-600:])
        return done.stdout if code == 0 else done.stderr


def used(path):
    """Bytes on the disk, each inode once."""
    seen = {}
    for each in [path, *path.rglob("*")]:
        about = each.lstat()
        seen[(about.st_dev, about.st_ino)] = about.st_blocks * 512
    return sum(seen.values())


def layers_of_two():
    lower = small_root().add("etc/old", b"old\n").add("etc/kept", b"kept\n").directory("opt").directory("opt/full").add("opt/full/a", b"a\n").bytes()
    upper = (Layer().directory("etc").add("etc/.wh.old", b"").add("etc/new", b"new\n").directory("opt/full").add("opt/full/.wh..wh..opq", b"")
             .add("opt/full/b", b"b\n").bytes())
    return [lower, upper]


def pulled(caller):
    """Layers over one another; whiteouts; the environment that an image asks for; as an ordinary process of a sandbox sees it."""
    image = caller.image("pull", layout(caller.place() / "layout", layers_of_two(), {"Env": ["PATH=/usr/bin", "FROM=image", "HOME=/elsewhere"]}), "--name", "two", "--json")
    equal(len(image["layers"]), 2)
    equal(image["root"], "directory" if caller.uid else "erofs")
    equal(caller.inside("two", "sh", "-c", "cat /etc/new /etc/kept; ls /etc/old 2>/dev/null; ls /opt/full; echo $FROM $PATH"), "new\nkept\nb\nimage /usr/bin\n")
    expect("/elsewhere" not in caller.inside("two", "sh", "-c", "echo $HOME"), "the image's home")
    caller.inside("two", "touch", "/etc/mine", code=1)
    expect("no such image" in caller.inside("three", "true", code=126), "an image that is not there")
    if caller.uid == 0:
        equal(caller.inside("two", "stat", "-c", "%u %a", "/etc/new"), "0 644\n")


def kept_once(caller):
    """The same layers twice take no more room; what nobody has any more goes."""
    source = layout(caller.place() / "layout", layers_of_two())
    caller.image("pull", source, "--name", "one")
    before = used(caller.store)
    caller.image("pull", source, "--name", "again")
    expect(used(caller.store) - before < 16384, "more room:", used(caller.store) - before)
    # A third that has the first layer in common takes what is new.
    other = Layer().add("etc/other", b"x" * 100_000).bytes()
    layers = caller.left()["layers"]
    caller.image("pull", layout(caller.place() / "layout", [layers_of_two()[0], other]), "--name", "third")
    equal(len(caller.left()["layers"]), len(layers) + 1)
    names = [image["name"] for image in caller.image("ls", "--json")["images"]]
    equal(names, ["again", "one", "third"])
    caller.image("rm", "one", "third")
    equal(caller.inside("again", "cat", "/etc/new"), "new\n")
    caller.image("rm", "again")
    equal(caller.left(), {"names": [], "layers": [], "roots": [], "new": []})
    expect("no image" in caller.refused("rm", "again"), "once more")


def imported(caller):
    """A directory, and a tar of it."""
    tree = caller.place() / "tree"
    small = caller.place() / "small.tar"
    small.write_bytes(small_root().add("etc/mark", b"marked\n").bytes())
    small.chmod(0o644)
    caller.image("import", str(small))
    equal(caller.inside("small", "cat", "/etc/mark"), "marked\n")
    tree.mkdir()
    subprocess.run(["tar", "-xf", small, "-C", tree], check=True)
    subprocess.run(["chown", "-R", f"{caller.uid}:{caller.uid}", tree], check=True)
    caller.image("import", str(tree), "--name", "tree")
    equal(caller.inside("tree", "cat", "/etc/mark"), "marked\n")
    caller.refused("import", str(tree), "--name", "Not/A/Name")
    caller.refused("import", "/nowhere", "--name", "none")


def changed(caller):
    """A layer, a document and a root that are not what they were."""
    place = caller.place() / "layout"
    source = layout(place, layers_of_two())
    blobs = sorted((place / "blobs/sha256").iterdir(), key=lambda path: path.stat().st_size)
    whole = blobs[-1].read_bytes()
    blobs[-1].write_bytes(whole[:-20] + bytes(20))
    caller.refused("pull", source, "--name", "changed")
    blobs[-1].write_bytes(whole)
    config, = [blob for blob in blobs if b'"os"' in blob.read_bytes()]
    text = config.read_bytes()
    config.write_bytes(text.replace(b"linux", b"Linux"))
    caller.refused("pull", source, "--name", "changed")
    config.write_bytes(text)
    caller.image("pull", source, "--name", "changed")
    if caller.uid:
        return
    root, = (caller.store / "roots").glob("*.erofs")
    with open(root, "r+b") as file:
        file.seek(-1, 2)
        last = file.read(1)
        file.seek(-1, 2)
        file.write(bytes([last[0] ^ 1]))
    expect("changed after it was made" in caller.inside("changed", "true", code=125), "an EROFS that was changed")
    with open(root, "r+b") as file:
        file.seek(-1, 2)
        file.write(last)
    equal(caller.inside("changed", "cat", "/etc/new"), "new\n")      # touched, and the same
    os.chown(root, UID, UID)
    expect("belongs to somebody else" in caller.inside("changed", "true", code=125), "an EROFS of somebody else's")
    os.chown(root, 0, 0)
    root.chmod(0o666)
    expect("belongs to somebody else" in caller.inside("changed", "true", code=125), "an EROFS that others may write to")
    root.chmod(0o644)
    equal(caller.inside("changed", "cat", "/etc/new"), "new\n")


def held(caller):
    """The tree that a run has begun with stays until it ends."""
    source = layout(caller.place() / "layout", layers_of_two())
    caller.image("pull", source, "--name", "held")
    workspace = caller.place()
    policy = workspace / "policy.toml"
    policy.write_text('version = 1\n[filesystem]\nroot = "image:held"\n')
    become = (lambda: (os.setgroups([]), os.setresgid(caller.uid, caller.uid, caller.uid), os.setresuid(caller.uid, caller.uid, caller.uid))) if caller.uid else None
    running = subprocess.Popen([caller.cordon, "run", "--quiet", "--workspace", str(workspace), "--policy", str(policy), "--", "sh", "-c", "echo begun; read x; cat /etc/new"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=become,
                               env={"PATH": "/usr/bin:/bin", "HOME": str(caller.base), "CORDON_IMAGES": str(caller.store), "ASAN_OPTIONS": "detect_leaks=0"})
    equal(running.stdout.readline(), "begun\n")
    caller.image("rm", "held")
    equal(running.communicate("\n", timeout=60)[0], "new\n")
    caller.image("pull", source, "--name", "next")
    caller.image("rm", "next")
    equal(caller.left()["roots"], [])


def archive_and_registry(caller):
    """From a docker-archive, and from a registry of this machine."""
    source = layout(caller.place() / "layout", layers_of_two())
    archive = caller.place() / "image.tar"
    subprocess.run(["skopeo", "--insecure-policy", "copy", "-q", source, f"docker-archive:{archive}:two:1"], check=True)
    archive.chmod(0o644)
    caller.image("pull", f"docker-archive:{archive}", "--name", "archived")
    equal(caller.inside("archived", "cat", "/etc/new"), "new\n")
    if shutil.which("docker-registry") is None:
        return "no registry here"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    place = caller.place()
    config = place / "registry.yml"
    config.write_text(f"version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {place}/data}}}}\nhttp: {{addr: '127.0.0.1:{port}'}}\n")
    registry = subprocess.Popen(["docker-registry", "serve", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 20
        while subprocess.run(["skopeo", "--insecure-policy", "copy", "-q", "--dest-tls-verify=false", source, f"docker://127.0.0.1:{port}/team/two:1"], capture_output=True).returncode:
            expect(time.monotonic() < until, "the registry does not come up")
            time.sleep(0.2)
        image = caller.image("pull", f"docker://127.0.0.1:{port}/team/two:1", "--json")
        equal(image["name"], "two")
        equal(caller.inside("two", "cat", "/etc/new"), "new\n")
    finally:
        registry.terminate()
        registry.wait()


def of_a_node(caller):
    """A node finds an image that was pulled after it began; its digest is in the record."""
    if caller.uid:
        return "root's only"
    caller.image("ls")      # so that the store is there
    with Daemon(caller.base / "bin", settings=f'image_store = "{caller.store}"', floor=f"source = {caller.store}/roots\n") as node:
        with node.client() as client:
            ask = lambda command: client.ask("POST", "/v1/run", {"command": command, "policy": {"filesystem": {"root": "image:late"}}})
            equal(ask(["true"]).status, 503, "an image that is not there")
            image = caller.image("pull", layout(caller.place() / "layout", layers_of_two()), "--name", "late", "--json")
            answer = ask(["cat", "/etc/new"])
            equal(answer.status, 200, answer)
            equal(answer.json["stdout"], "new\n")
            started, = [record for record in map(json.loads, node.audit_lines()) if record.get("sandbox") == answer.json["id"] and record["event"] == "sandbox_started"]
            root, = [each for each in started["mechanisms"] if each["name"] == "root"]
            expect(image["digest"] in root["detail"] and root["hold"] == "held", root)
            # As whom files are seen: the image's root is the sandbox's, and nobody's of the host.
            equal(ask(["stat", "-c", "%u", "/etc/new"]).json["stdout"], "0\n")


def cached():
    """Bytes of files that the kernel holds in memory."""
    lines = dict(line.split(":") for line in open("/proc/meminfo"))
    return int(lines["Cached"].split()[0]) * 1024


def shared_pages(caller):
    """A hundred sandboxes of one image have its pages in memory once."""
    if caller.uid:
        return "root's only"
    size = 64 << 20
    big = small_root().directory("opt").add("opt/big", os.urandom(1 << 20) * 64).bytes()
    caller.image("pull", layout(caller.place() / "layout", [big]), "--name", "big")
    with Daemon(caller.base / "bin", settings=f'image_store = "{caller.store}"', floor=f"source = {caller.store}/roots\n") as node, node.client(timeout=60) as client:
        def read_all():
            made = client.ask("POST", "/v1/sandboxes", {"policy": {"filesystem": {"root": "image:big"}}})
            equal(made.status, 201, made)
            done = client.ask("POST", f"/v1/sandboxes/{made.json['id']}/run?seconds=60", {"command": ["sh", "-c", "cat /opt/big >/dev/null"]})
            equal((done.status, done.json["process"]["exit"]["code"]), (200, 0), done)
        read_all()
        begin = cached()
        for _ in range(99):
            read_all()
        more = cached() - begin
        equal(len(client.ask("GET", "/v1/sandboxes?limit=200").json["sandboxes"]), 100)
        expect(more < size, f"{more >> 20} MiB more for 99 sandboxes that read {size >> 20} MiB each")
        return f"{more >> 20} MiB more for 99 that read {size >> 20} MiB each"


def built(caller):
    """The three recipes, each with what it is for."""
    if caller.uid:
        return "root's only"
    sizes = []
    for recipe, command, said in (("debian", ["cat", "/etc/debian_version"], "12."), ("python", ["python3", "-c", "print(6 * 7)"], "42\n"),
                                  ("node", ["node", "-e", "console.log(6 * 7)"], "42\n")):
        image = caller.image("build", recipe, "--json")
        expect(caller.inside(image["name"], *command).startswith(said), recipe)
        sizes.append(f"{image['name']} {image['bytes'] >> 20} MiB")
    return ", ".join(sizes)


CHECKS = {check.__name__: check for check in (pulled, kept_once, imported, changed, held, archive_and_registry, of_a_node, shared_pages)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs")
    parser.add_argument("--as", dest="callers", action="append", choices=["root", "user"])
    parser.add_argument("--built", action="store_true", help="also the recipes, which takes minutes")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    missing = [tool for tool in ("skopeo", "mkfs.erofs") if shutil.which(tool) is None]
    if os.geteuid() != 0 or missing:
        print(f"skipped: needs root{' and ' + ', '.join(missing) if missing else ''}")
        return 77
    wrong = 0
    for who in options.callers or ["root", "user"]:
        for name, check in (CHECKS | ({"built": built} if options.built else {})).items():
            if options.names and name not in options.names:
                continue
            base = pathlib.Path(tempfile.mkdtemp(prefix="cordon-image-test-", dir="/var/tmp"))
            base.chmod(0o755)
            uid = UID if who == "user" else 0
            os.chown(base, uid, uid)
            try:
                programs = base / "bin"
                programs.mkdir(mode=0o755)
                for each in pathlib.Path(options.programs).glob("cordon*"):
                    if each.is_file():
                        shutil.copy(each, programs / each.name)
                begin = time.monotonic()
                said = check(Caller(programs, base, uid)) or ""
                print(f"pass  {name:<24} {who:<6} {time.monotonic() - begin:5.1f} s  {said}", flush=True)
            except (AssertionError, OSError, ValueError, TypeError, subprocess.SubprocessError):
                wrong += 1
                print(f"FAIL  {name:<24} {who}\n{traceback.format_exc()[-2500:]}", flush=True)
            finally:
                path = str(base)
                assert path.startswith("/var/tmp/cordon-image-test-"), path
                shutil.rmtree(path, ignore_errors=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
