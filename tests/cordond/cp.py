# SPDX-License-Identifier: Apache-2.0
"""cordon cp: `cp.py PROGRAMS [NAME...]`, each check with a node of its own. 77: needs root."""
import contextlib
import filecmp
import hashlib
import io
import json
import os
import pathlib
import pty
import random
import socket
import stat
import subprocess
import tarfile
import tempfile
import threading

import api
from api import equal, expect, made
from cli import Cli
from daemon import Daemon
from trees import TOOLS, WORKSPACE, hard, inside, link, shell, tar_of


@contextlib.contextmanager
def place():
    with tempfile.TemporaryDirectory(prefix="cordon-cp-") as name:
        yield pathlib.Path(name)


def same(one, two):
    seen = filecmp.dircmp(one, two)
    return not (seen.left_only or seen.right_only or seen.diff_files or seen.funny_files) and all(
        same(one / name, two / name) for name in seen.common_dirs)


def files(node):
    """One file, small and large, both ways; modes; what is not there."""
    data = random.Random(3).randbytes(20 << 20)
    with node.client() as client, place() as here:
        cordon, sandbox = Cli(node), made(client, WORKSPACE)
        (here / "large").write_bytes(data)
        (here / "large").chmod(0o640)
        cordon.good("cp", here / "large", f"{sandbox}:/workspace/a")
        equal(shell(client, sandbox, "sha256sum < /workspace/a; find /workspace/a -printf '%m\\n'").split(), [hashlib.sha256(data).hexdigest(), "-", "640"])
        done = json.loads(cordon.good("cp", "--json", f"{sandbox}:/workspace/a", here / "back"))
        equal(done, {"entries": 1, "bytes": len(data), "left_out": []})
        equal((here / "back").read_bytes(), data)
        cordon.good("cp", here / "large", f"{sandbox}:/workspace/new/dir/")
        equal(inside(client, sandbox, "/workspace/new/dir"), ["large"])
        cordon.good("cp", f"{sandbox}:/workspace/new/dir/large", here / "large")
        shell(client, sandbox, "echo x > /workspace/s; chmod 6777 /workspace/s; ln -s /etc/passwd /workspace/l")
        # A link that stands here is replaced, and never written through.
        (here / "precious").write_text("kept")
        (here / "s").symlink_to("precious")
        cordon.good("cp", f"{sandbox}:/workspace/s", here)
        equal(((here / "s").read_text(), (here / "precious").read_text(), stat.S_IMODE((here / "s").lstat().st_mode)), ("x\n", "kept", 0o755))
        for words, code in (((here / "none", f"{sandbox}:/workspace/x"), 4), ((f"{sandbox}:/none", here / "x"), 4), ((here / "a", here / "b"), 2),
                            ((f"{sandbox}:relative", here / "x"), 2), ((f"{sandbox}:/a", f"{sandbox}:/b"), 2), ((here / "large", f"{sandbox}:/usr/x"), 1),
                            ((f"{sandbox}:/dev/zero", here / "x"), 4)):
            equal(cordon("cp", *words).returncode, code, words)
        equal(sorted(each.name for each in here.iterdir()), ["back", "large", "precious", "s"], "what is left")


def trees(node):
    with node.client() as client, place() as here:
        cordon, sandbox = Cli(node), made(client, WORKSPACE)
        tree = here / "tree"
        for at in range(30):
            (tree / f"d{at}").mkdir(parents=True)
            for name in range(20):
                (tree / f"d{at}/f{name}").write_text(f"{at} {name}")
        (tree / "d1/locked").write_text("x")
        (tree / "d1/locked").chmod(0o400)
        (tree / "near").symlink_to("d1/f1")
        (tree / "d2/up").symlink_to("../d1")
        done = json.loads(cordon.good("cp", "--json", tree, f"{sandbox}:/workspace"))
        equal(done["entries"], 30 * 21 + 3, done)
        equal(shell(client, sandbox, "cd /workspace; find . -mindepth 1 -maxdepth 1; cat tree/near; find tree/d1/locked -printf '%m\\n'"), "./tree\n1 1400\n")
        cordon.good("cp", f"{tree}/.", f"{sandbox}:/workspace/only")
        equal(shell(client, sandbox, "cat /workspace/only/d2/up/f3"), "1 3")
        cordon.good("cp", f"{sandbox}:/workspace/tree", here / "back")
        expect(same(tree, here / "back"), "the tree that came back is another")
        equal((os.readlink(here / "back/near"), os.readlink(here / "back/d2/up")), ("d1/f1", "../d1"))
        cordon.good("cp", f"{sandbox}:/workspace/tree", here / "back")
        expect(same(tree, here / "back/tree"), "into a directory that is there")
        cordon.good("cp", f"{sandbox}:/workspace/tree/.", here / "back")
        expect(same(tree / "d3", here / "back/d3"), "again over what is there")


def names(node):
    """Names that other programs stumble over; and a terminal hears how far a long copy is."""
    with node.client() as client, place() as here:
        cordon, sandbox = Cli(node), made(client, WORKSPACE)
        odd = ["-rf", "a b", "n\nl", "\x1b[31mred", "h\u00e4?#&%20+", "..x", "x" * 255]
        (here / "t").mkdir()
        for name in odd:
            (here / "t" / name).write_text(name)
        done = cordon("cp", here / "t", f"{sandbox}:/workspace/t")
        expect(done.returncode == 1 and b"unsafe_path" in done.stderr and b"\x1b" not in done.stderr, done)
        (here / "t" / "n\nl").unlink()
        (here / "t" / "\x1b[31mred").unlink()
        cordon.good("cp", here / "t", f"{sandbox}:/workspace/u")
        cordon.good("cp", f"{sandbox}:/workspace/u", here / "back")
        expect(same(here / "t", here / "back"), "names")
        cordon.good("cp", here / "t/h\u00e4?#&%20+", f"{sandbox}:/workspace/h\u00e4?#&%20+")
        equal(shell(client, sandbox, "cat /workspace/h*"), "h\u00e4?#&%20+")
        (here / "large").write_bytes(bytes(120 << 20))
        main, side = pty.openpty()
        run = subprocess.Popen([cordon.program, "cp", here / "large", f"{sandbox}:/workspace/large"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=side, env=cordon.environment)
        os.close(side)
        told = b""
        with contextlib.suppress(OSError):
            while chunk := os.read(main, 4096):
                told += chunk
        os.close(main)
        out, _ = run.communicate(timeout=30)
        equal((run.returncode, out), (0, b""), told)
        expect(told == b"" or (b"MiB/s" in told and told.endswith(b"\r\x1b[K")), told)


def streams(node):
    with node.client() as client:
        cordon, sandbox = Cli(node), made(client, WORKSPACE)
        cordon.good("cp", "-", f"{sandbox}:/workspace/in", stdin=tar_of(("d/f", {"data": b"x" * 100_000}), link("l", "d/f")))
        got = cordon("cp", f"{sandbox}:/workspace/in", "-")
        with tarfile.open(fileobj=io.BytesIO(got.stdout)) as tar:
            equal(sorted(tar.getnames()), ["d", "d/f", "l"], got)
            equal(tar.extractfile("d/f").read(), b"x" * 100_000)
        bad = cordon("cp", "-", f"{sandbox}:/workspace/in", stdin=tar_of(("../x", {})))
        expect(bad.returncode == 1 and b"../x" in bad.stderr and b"unsafe_path" in bad.stderr, bad)
        equal(cordon("cp", "--json", f"{sandbox}:/workspace/in", "-").returncode, 2)
        token = node.mint("--tenant", "default", "--operation", "file.read")
        equal(cordon("cp", "-", f"{sandbox}:/workspace/in", stdin=tar_of(("f", {})), CORDON_TOKEN=token).returncode, 1)


def hostile_trees(node):
    """What a workload has prepared reaches nothing outside of the destination."""
    with node.client() as client, place() as here:
        cordon, sandbox = Cli(node), made(client, WORKSPACE)
        (here / "outside").mkdir()
        shell(client, sandbox, f"cd /workspace; mkdir -p t/d; echo x > t/d/f; chmod 7777 t/d/f t/d; ln -s /etc t/etc; ln -s {here}/outside t/far;"
                               " ln -s ../../outside t/d/up; ln -s .. t/d/top; ln -s d/top/../outside t/tricky; ln -s d t/fine")
        done = json.loads(cordon.good("cp", "--json", f"{sandbox}:/workspace/t", here / "t"))
        equal(sorted(done["left_out"]), ["d/up", "etc", "far", "tricky"])
        equal(sorted(each.name for each in (here / "t").iterdir()), ["d", "fine"])
        equal((stat.S_IMODE((here / "t/d/f").stat().st_mode), stat.S_IMODE((here / "t/d").stat().st_mode)), (0o755, 0o755))
        # Links that were here already are not walked either.
        (here / "u").mkdir()
        (here / "u/d").symlink_to("../outside")
        refused = cordon("cp", f"{sandbox}:/workspace/t/.", here / "u")
        expect(refused.returncode != 0 and b"d" in refused.stderr, refused)
        equal(list((here / "outside").iterdir()), [], "outside")
        (here / "u/d").unlink()
        cordon.good("cp", f"{sandbox}:/workspace/t/.", here / "u")
        equal((here / "u/d/f").read_text(), "x\n", "the counter-arm")


class FalseNode:
    """A node that was taken over: answers each path with what it is told to."""

    def __init__(self, path, tree):
        self.tree = tree
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                talk, _ = self.listener.accept()
                with talk:
                    head = b""
                    while b"\r\n\r\n" not in head:
                        head += talk.recv(4096)
                    body = self.tree if b"/tree?" in head else b'{"name":"t","type":"directory","size":0,"mode":"0755"}'
                    talk.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


def hostile_nodes(node):
    """Archives that no node of ours sends: refused by name, and nothing outside."""
    with place() as here:
        cordon = Cli(node)
        device = {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 3}
        for at, (archive, word) in enumerate((
                (tar_of(("../evil", {"data": b"x"})), b"unsafe_path"), (tar_of((f"{here}/evil", {})), b"unsafe_path"),
                (tar_of(link("l", ".."), ("l/evil", {})), b"unsafe_link"), (tar_of(hard("h", "/etc/passwd")), b"unsafe_path"),
                (tar_of(("null", device)), b"unsafe_type"), (tar_of(("f", {"data": bytes(9000)}))[:4000], b"malformed"), (b"junk" * 300, b"malformed"))):
            path = here / f"node{at}"
            false = FalseNode(path, archive)
            done = cordon("cp", "abcdefgh:/workspace/t", here / "to" / str(at), CORDON_NODE=str(path))
            false.listener.close()
            expect(done.returncode == 1 and word in done.stderr, at, done)
            expect(not (here / "evil").exists() and not (here / "to/evil").exists(), at)
        false = FalseNode(here / "good", tar_of(("suid", {"data": b"x", "mode": 0o6777})))
        cordon.good("cp", "abcdefgh:/workspace/t", here / "ok", CORDON_NODE=str(here / "good"))
        false.listener.close()
        equal(stat.S_IMODE((here / "ok/suid").stat().st_mode), 0o755)


CHECKS = {f.__name__: f for f in (files, trees, names, streams, hostile_trees, hostile_nodes)}


def make_node(programs, settings=""):
    return Daemon(programs, settings=settings, tools=TOOLS)


if __name__ == "__main__":
    api.main(CHECKS, make_node)
