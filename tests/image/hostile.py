#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images that mean harm: what each is, and what becomes of it. `hostile.py PROGRAMS [--as root|user]...`

Each is imported as a tar and as a layer over a harmless one. Refused: nothing of it stays. Contained: it is there, and what it names is inside. In
both cases the canaries of the host are as they were. Exit: 0 all as stated; 1 otherwise; 77 where it cannot run at all."""
import argparse
import gzip
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from layers import Layer, layout   # noqa: E402

UID = 47113     # no account has it
MARK = b"of the host\n"


def deep(parts):
    return "/".join(["d"] * parts)


def cut(data, at):
    return data[:at]


def changed_size(data, name, size):
    """The header of `name` says another size, and its sum is right again."""
    data, at = bytearray(data), data.index(name.encode())
    data[at + 124:at + 136] = b"\x80" + size.to_bytes(11, "big")
    data[at + 148:at + 156] = b" " * 8
    data[at + 148:at + 156] = b"%06o\0 " % sum(data[at:at + 512])
    return bytes(data)


def many(count):
    layer = Layer()
    layer.directory("many")
    for number in range(count):
        layer.add(f"many/{number}")
    return layer.bytes()


def cases(canary):
    """By name: the bytes of a tar, and either the code of its refusal or what its tree has to be like."""
    away = str(canary).lstrip("/")
    up = "../" * 12

    def made(*acts):
        layer = Layer()
        for act, *words in acts:
            getattr(layer, act)(*words)
        return layer.bytes()

    def has(path, test):
        return lambda tree: test(tree / path)

    is_link = lambda target: lambda path: path.is_symlink() and os.readlink(path) == target
    absent = lambda path: not path.is_symlink() and not path.exists()
    found = {
        # Names that lead out.
        "absolute path": (made(("add", "/etc/x", b"x")), "unsafe_path"),
        "absolute path to the canary": (made(("add", f"/{away}/y", b"x")), "unsafe_path"),
        "dots at the beginning": (made(("add", f"{up}{away}/y", b"x")), "unsafe_path"),
        "dots in the middle": (made(("add", f"a/b/{up}{away}/y", b"x")), "unsafe_path"),
        "dots at the end": (made(("directory", "a/..")), "unsafe_path"),
        "dots alone": (made(("add", "..", b"x")), "unsafe_path"),
        "no name": (made(("add", "./", b"x")), "malformed"),
        "control characters": (made(("add", "a\nb", b"x")), "unsafe_path"),
        "an escape sequence": (made(("add", "a\x1b[2Jb", b"x")), "unsafe_path"),
        # Links that lead out.
        "absolute link": (made(("link", "out", str(canary)), ("add", "out/y", b"x")), "unsafe_link"),
        "relative link": (made(("link", "out", f"{up}{away}"), ("add", "out/y", b"x")), "unsafe_link"),
        "a chain of links": (made(("link", "a", "b"), ("link", "b", str(canary)), ("add", "a/y", b"x")), "unsafe_link"),
        "a link and a directory over it": (made(("link", "out", str(canary)), ("directory", "out")), "unsafe_link"),
        "a link and a file over it": (made(("link", "y", f"{canary}/y"), ("add", "y", b"x")), "duplicate"),
        "a hard link to the host": (made(("hard", "y", f"{canary}/y")), "unsafe_path"),
        "a hard link upwards": (made(("hard", "y", f"{up}{away}/y")), "unsafe_path"),
        "a hard link through a link": (made(("link", "out", str(canary)), ("hard", "y", "out/y")), "unsafe_link"),
        "a hard link to nothing": (made(("hard", "y", "later"), ("add", "later", b"x")), "unsafe_link"),
        "a hard link to a directory": (made(("directory", "d"), ("hard", "y", "d")), "unsafe_link"),
        "a link without a target": (made(("link", "y", "")), "unsafe_link"),
        "only a link to the host": (made(("link", "y", f"{canary}/y")), has("y", is_link(f"{canary}/y"))),
        "only a link upwards": (made(("link", "y", f"{up}{away}/y")), has("y", is_link(f"{up}{away}/y"))),
        "a link to itself": (made(("link", "y", "y")), has("y", is_link("y"))),
        # The places of a sandbox.
        "/proc as a link": (made(("link", "proc", str(canary))), has("proc", is_link(str(canary)))),
        "/dev as a link": (made(("link", "dev", str(canary))), has("dev", is_link(str(canary)))),
        "/etc as a link": (made(("link", "etc", str(canary))), has("etc", is_link(str(canary)))),
        "/sys as a file": (made(("add", "sys", b"x")), has("sys", pathlib.Path.is_file)),
        "/workspace as a link": (made(("link", "workspace", str(canary))), has("workspace", is_link(str(canary)))),
        # What is no file.
        "a device of characters": (made(("add", "mem", b"", tarfile.CHRTYPE)), has("mem", absent)),
        "a device of blocks": (made(("add", "sda", b"", tarfile.BLKTYPE)), has("sda", absent)),
        "a FIFO": (made(("add", "pipe", b"", tarfile.FIFOTYPE)), has("pipe", absent)),
        "a device for a whiteout": (made(("add", "etc", b"", tarfile.CHRTYPE)), has("etc/harmless", pathlib.Path.is_file)),
        "a type of nobody's": (made(("add", "odd", b"x", b"Z")), has("odd", pathlib.Path.is_file)),
        # Modes and owners.
        "a set-id program": (made(("add", "su", b"x", tarfile.REGTYPE, "", 0o6755)), has("su", lambda path: path.stat().st_mode & 0o6000 == 0)),
        "a set-id directory": (made(("directory", "d", 0o6777)), has("d", lambda path: path.stat().st_mode & 0o6000 == 0)),
        "a directory that nobody may enter": (made(("directory", "d", 0o000), ("add", "d/x", b"x")), has("d", pathlib.Path.is_dir)),
        # Names twice.
        "a file twice": (made(("add", "x", b"1"), ("add", "x", b"2")), "duplicate"),
        "a file and a directory": (made(("add", "x", b"1"), ("directory", "x")), "duplicate"),
        "a file below a file": (made(("add", "x", b"1"), ("add", "x/y", b"2")), "unsafe_path"),
        "a directory twice": (made(("directory", "x"), ("directory", "x")), has("x", pathlib.Path.is_dir)),
        # Too much.
        "a path that is too deep": (made(("add", deep(300), b"x")), "too_long_name"),
        "a name that is too long": (made(("add", "x" * 300, b"x")), "too_long_name"),
        "a path that is too long": (made(("add", "/".join(["x" * 200] * 25), b"x")), "too_long_name"),
        "a size that is a lie": (changed_size(made(("add", "huge", b"x")), "huge", 1 << 40), "too_large"),
        "a bomb": (gzip.compress(made(("add", "zeros", bytes(256 << 20))), 9), "too_dense"),
        "a bomb in a bomb": (gzip.compress(gzip.compress(made(("add", "zeros", bytes(64 << 20))), 9), 9), "malformed"),
        "a huge directory": (many(50_000), has("many", lambda path: len(os.listdir(path)) == 50_000)),
        # Whiteouts.
        "a whiteout upwards": (made(("add", ".wh...", b"")), has("etc/harmless", pathlib.Path.is_file)),
        "a whiteout of nothing": (made(("add", ".wh.", b"")), has("etc/harmless", pathlib.Path.is_file)),
        "a whiteout of a path": (made(("directory", "a"), ("add", f"a/.wh.{up}", b"")), "unsafe_path"),
        "a whiteout through a link": (made(("link", "out", str(canary)), ("add", "out/.wh.y", b"")), "unsafe_link"),
        "opaque at the top": (made(("add", ".wh..wh..opq", b"")), has("etc", absent)),
        # Broken.
        "nothing": (b"", "malformed"),
        "text": (b"hello, world\n" * 100, "malformed"),
        "cut in the middle": (cut(made(("add", "x", b"x" * 4096)), 2048), "malformed"),
        "a wrong sum": (made(("add", "x", b"x")).replace(b"0000644", b"0000645", 1), "malformed"),
        "gzip that breaks off": (cut(gzip.compress(made(("add", "x", os.urandom(1 << 20)))), 4096), "malformed"),
    }
    return found


class Store:
    def __init__(self, programs, base, uid):
        self.base, self.uid = base, uid
        self.cordon, self.store = str(programs / "cordon"), base / "images"
        self.store.mkdir()
        os.chown(self.store, uid, uid)

    def run(self, *words):
        become = (lambda: (os.setgroups([]), os.setresgid(self.uid, self.uid, self.uid), os.setresuid(self.uid, self.uid, self.uid))) if self.uid else None
        return subprocess.run([self.cordon, *words], capture_output=True, text=True, errors="replace", timeout=600, preexec_fn=become,
                              env={"PATH": "/usr/bin:/bin", "HOME": str(self.base), "CORDON_IMAGES": str(self.store), "LANG": "C.UTF-8",
                                   "ASAN_OPTIONS": "detect_leaks=0"})

    def left(self):
        """What is in the store, by its kinds."""
        return {kind: sorted(os.listdir(self.store / kind)) if (self.store / kind).exists() else [] for kind in ("names", "layers", "roots", "new")}


def judged(store, name, data, wanted, canary):
    file = store.base / "layer.tar"
    file.write_bytes(data)
    before = store.left()
    done = store.run("image", "import", str(file), "--name", "hostile", "--json")
    if isinstance(wanted, str):
        if done.returncode == 0 or f"not taken: {wanted}" not in done.stderr:
            return f"not refused as {wanted}: {done.returncode} {done.stderr.strip()[-200:]} {done.stdout[:100]}"
        return None if store.left() == before else f"something stayed: {store.left()}"
    if done.returncode != 0:
        return f"refused: {done.stderr.strip()[-300:]}"
    # Over a harmless layer, as the second of an image.
    harmless = Layer().directory("etc").add("etc/harmless", b"x").bytes()
    place = pathlib.Path(tempfile.mkdtemp(dir=store.base))
    place.chmod(0o755)
    done = store.run("image", "pull", layout(place / "layout", [harmless, data]), "--name", "over", "--json")
    if done.returncode != 0:
        return f"as a layer: {done.stderr.strip()[-300:]}"
    image = json.loads(done.stdout)
    root = flat(store, image)
    try:
        return None if wanted(root) else f"not as stated: {sorted(os.listdir(root))[:9]}"
    finally:
        unmount(root, store)
        store.run("image", "rm", "over", "hostile")
        shutil.rmtree(place)


def flat(store, image):
    """Where its tree can be looked at."""
    name = hashlib.sha256("".join(layer + "\n" for layer in image["layers"]).encode()).hexdigest()
    if image["root"] == "directory":
        return store.store / "roots" / name
    place = store.base / "mounted"
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "erofs", "-o", "ro", store.store / "roots" / f"{name}.erofs", place], check=True)
    return place


def unmount(root, store):
    if root == store.base / "mounted":
        subprocess.run(["umount", root], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs")
    parser.add_argument("--as", dest="callers", action="append", choices=["root", "user"])
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    missing = [tool for tool in ("skopeo", "mkfs.erofs") if shutil.which(tool) is None]
    if os.geteuid() != 0 or missing:
        print(f"skipped: needs root{' and ' + ', '.join(missing) if missing else ''}")
        return 77
    wrong = 0
    for caller in options.callers or ["root", "user"]:
        base = pathlib.Path(tempfile.mkdtemp(prefix="cordon-image-test-", dir="/var/tmp"))
        base.chmod(0o755)
        try:
            programs = base / "bin"
            programs.mkdir(mode=0o755)
            for name in ("cordon", "cordon-unpack"):
                shutil.copy(pathlib.Path(options.programs) / name, programs / name)
            canary = base / "canary"
            canary.mkdir(mode=0o777)
            canary.chmod(0o777)
            (canary / "y").write_bytes(MARK)
            (canary / "y").chmod(0o666)
            state = lambda: sorted((path.name, path.lstat().st_mtime_ns, path.lstat().st_nlink, path.read_bytes()) for path in canary.iterdir())
            before = state()
            store = Store(programs, base, UID if caller == "user" else 0)
            all_cases = cases(canary)
            for name, (data, wanted) in all_cases.items():
                if options.names and name not in options.names:
                    continue
                said = judged(store, name, data, wanted, canary)
                if state() != before:
                    said = f"the host was touched: {state()}"
                if said:
                    wrong += 1
                    print(f"FAIL  {caller:<5} {name}: {said}", flush=True)
                elif options.names:
                    print(f"pass  {caller:<5} {name}", flush=True)
            print(f"{len(all_cases)} hostile images as {caller}", flush=True)
        finally:
            path = str(base)
            assert path.startswith("/var/tmp/cordon-image-test-"), path
            shutil.rmtree(path, ignore_errors=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
