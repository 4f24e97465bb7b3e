# SPDX-License-Identifier: Apache-2.0
"""Whole trees in and out of a sandbox: `trees.py PROGRAMS [NAME...]`, each check with a node of its own. 77: needs root."""
import gzip
import hashlib
import io
import lzma
import os
import pathlib
import random
import subprocess
import sys
import tarfile
import time
import zipfile

import api
from api import equal, expect, joined, made, started
from daemon import Answer, Daemon

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "callers"))

from pace import slow  # noqa: E402

WORKSPACE = {"policy": {"resources": {"memory_limit": "512Mi", "disk_limit": "256Mi"}}}
TOOLS = ("/usr/bin/find", "/usr/bin/rm", "/usr/bin/mv", "/usr/bin/touch", "/usr/bin/stat", "/usr/bin/chmod")


def tar_of(*entries, form=tarfile.GNU_FORMAT):
    """Each: a name and what makes it special; `data` is what a file has in it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for name, facts in entries:
            info = tarfile.TarInfo()
            info.name = name        # as it is: the class would mend it
            data = facts.get("data", b"")
            info.size = len(data)
            for key, value in facts.items():
                if key != "data":
                    setattr(info, key, value)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def link(name, target):
    return name, {"type": tarfile.SYMTYPE, "linkname": target}


def hard(name, target):
    return name, {"type": tarfile.LNKTYPE, "linkname": target}


def shell(client, sandbox, line):
    """What a shell inside prints."""
    process = started(client, sandbox, "sh", "-c", line)
    return joined(client.lines(process + "/output"), "stdout").decode()


def inside(client, sandbox, directory):
    """The names in a directory that is there."""
    seen = shell(client, sandbox, f"find {directory} -mindepth 1 -maxdepth 1 -printf '%f\\n' && echo /").splitlines()
    equal(seen[-1:], ["/"], directory, "cannot be read")
    return sorted(seen[:-1])


def paths(sandbox):
    return f"/v1/sandboxes/{sandbox}/tree", f"/v1/sandboxes/{sandbox}/files"


def put(node, path, body):
    """On a connection of its own; an answer may come before the body has gone."""
    with node.client(timeout=60) as client:
        try:
            client.connection.request("PUT", path, body=body)
        except (BrokenPipeError, ConnectionResetError):
            pass
        got = client.connection.getresponse()
        return Answer(got.status, got.headers, got.read())


def there_and_back(node):
    """Every kind of entry, packed in every way, arrives as it was sent; a file alone too."""
    with node.client() as client:
        sandbox = made(client, WORKSPACE)
        tree, _ = paths(sandbox)
        long = "d/" + "n" * 200 + "/" + "m" * 150
        plain = tar_of(("./", {"type": tarfile.DIRTYPE, "mode": 0o700}), ("d", {"type": tarfile.DIRTYPE, "mode": 0o555, "mtime": 1_000_000_000}),
                       ("d/f", {"data": b"text", "mode": 0o444, "mtime": 1_100_000_000}), hard("d/h", "d/f"), link("l", "d/f"),
                       ("large", {"data": bytes(range(256)) * 12_000, "mode": 0o400}), (long, {"data": b"deep"}), ("d\u00e4/\u4e2d", {"data": b"u"}),
                       ("suid", {"data": b"", "mode": 0o6755}))
        for packed in (plain, gzip.compress(plain), subprocess.run(["zstd", "-c"], input=plain, capture_output=True).stdout if has("zstd") else plain):
            target = f"/workspace/{len(packed)}"
            answer = client.ask("PUT", f"{tree}?path={target}/new", packed)
            equal((answer.status, answer.json.get("entries")), (200, 9), answer)
            seen = shell(client, sandbox, f"cd {target}/new && find d d/f large suid -maxdepth 0 -printf '%m %Ts\\n' && find d/h -printf '%n\\n' &&"
                                          " find l -printf 'l -> %l\\n' && sha256sum large")
            for line in ("555 1000000000", "444 1100000000", "400 ", "755 ", "l -> d/f", hashlib.sha256(bytes(range(256)) * 12_000).hexdigest()):
                expect(line in seen, line, "is not in", seen)
            expect("\n2\n" in seen, "a hard link is none:", seen)
            for form, kind in (("tar", "x-tar"), ("tar.gz", "gzip"), ("tar.zst", "zstd")):
                back = client.ask("GET", f"{tree}?path={target}/new&format={form}")
                equal((back.status, back.fields["Content-Type"]), (200, f"application/{kind}"), back)
                equal((back.fields["Content-Disposition"], back.fields["X-Content-Type-Options"]), ("attachment", "nosniff"))
                if form == "tar.zst":
                    continue
                with tarfile.open(fileobj=io.BytesIO(back.body)) as tar:
                    found = {each.name: each for each in tar}
                    equal(set(found), {"d", "d/f", "d/h", "l", "large", "d/" + "n" * 200, long, "d\u00e4", "d\u00e4/\u4e2d", "suid"})
                    equal(tar.extractfile("large").read(), bytes(range(256)) * 12_000)
                    equal((found["l"].linkname, found["d/f"].mode, found["d/f"].mtime, found["suid"].mode), ("d/f", 0o444, 1_100_000_000, 0o755))
        alone = client.ask("GET", f"{tree}?path={target}/new/large")
        with tarfile.open(fileobj=io.BytesIO(alone.body)) as tar:
            equal([(each.name, each.size) for each in tar], [("large", 256 * 12_000)])
        # Again over what is there: files are replaced, nothing is left over.
        equal(client.ask("PUT", f"{tree}?path={target}/new", tar_of(("large", {"data": b"x"}), ("l", {"data": b"y"}))).status, 200)
        equal(shell(client, sandbox, f"cd {target}/new; cat large l d/f"), "xytext")
        for query, status in (("", 400), ("?path=relative", 400), ("?path=/workspace&x=1", 400), ("?path=/nowhere/x", 404), ("?path=/workspace&format=rar", 400)):
            equal(client.ask("GET", tree + query).status, status, query)
        equal(put(node, f"{tree}?path=/usr/x", plain).status, 403, "where the workload may not write")


def has(program):
    return any(os.access(f"{place}/{program}", os.X_OK) for place in os.environ["PATH"].split(":"))


def sparse_bomb(size):
    """A hole as GNU tar writes one: nothing stands behind its size."""
    head = bytearray(tarfile.TarInfo("bomb").tobuf(tarfile.GNU_FORMAT))
    head[156:157] = b"S"
    head[124:136] = b"%011o\0" % 0
    head[386:398] = b"%011o\0" % size
    head[398:410] = b"%011o\0" % 0
    head[483:495] = b"%011o\0" % size
    head[148:156] = b"        "
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + bytes(1024)


def zip_of(name):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, b"x")
    return out.getvalue()


def pax_of(name, headers):
    """An entry with such words of its own before it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo(name)
        info.pax_headers = headers
        tar.addfile(info)
    return out.getvalue()


def long_name(size):
    """Announces a name of so many bytes, as GNU tar does."""
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, size
    return info.tobuf(tarfile.GNU_FORMAT) + bytes(100_000)


DEEP = "/".join(["d" * 200] * 16)       # longer than a path that a kernel takes at once, with what follows


def tricks():
    """The archive, and the rule that it is refused by; all of them are refused at the entry `bad`, or at the one that is named."""
    fine = ("fine", {"data": b"x"})
    device = {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 5}
    return {
        "absolute": (tar_of(fine, ("/tmp/bad", {})), "unsafe_path", "/tmp/bad"),
        "up": (tar_of(fine, ("../bad", {})), "unsafe_path", "../bad"),
        "up within": (tar_of(fine, ("a/../../bad", {})), "unsafe_path", "a/../../bad"),
        "through a link": (tar_of(link("l", "/tmp"), ("l/bad", {"data": b"x"})), "unsafe_link", "l/bad"),
        "through a link up": (tar_of(link("l", "../.."), ("l/bad", {})), "unsafe_link", "l/bad"),
        "a link, then a directory": (tar_of(link("bad", "/tmp"), ("bad/", {"type": tarfile.DIRTYPE})), "unsafe_link", "bad/"),
        "hard link outside": (tar_of(hard("bad", "/etc/passwd")), "unsafe_path", "bad"),
        "hard link up": (tar_of(hard("bad", "../../etc/passwd")), "unsafe_path", "bad"),
        "hard link of a link": (tar_of(link("l", "/etc/passwd"), hard("bad", "l")), "unsafe_link", "bad"),
        "device": (tar_of(fine, ("bad", device)), "unsafe_type", "bad"),
        "fifo": (tar_of(fine, ("bad", {"type": tarfile.FIFOTYPE})), "unsafe_type", "bad"),
        "block device": (tar_of(fine, ("bad", {**device, "type": tarfile.BLKTYPE})), "unsafe_type", "bad"),
        "up, by a zip": (zip_of("../bad"), "unsafe_path", "../bad"),
        "up, by other words": (pax_of("fine", {"path": "../bad"}), "unsafe_path", "../bad"),
        "empty link": (tar_of(link("bad", "")), "unsafe_link", "bad"),
        "empty hard link": (tar_of(hard("bad", "")), "unsafe_type", "bad"),
        "hard link of itself": (tar_of(hard("bad", "bad")), "unsafe_link", "bad"),
        "empty name": (tar_of(("", {})), "unsafe_path", None),
        "through a long way": (tar_of(link("l", DEEP), link("out", "l/" + "../" * 20 + "tmp"), ("out/bad", {"data": b"x"})), "unsafe_link", "out/bad"),
        "duplicate": (tar_of(("bad", {"data": b"1"}), ("bad", {"data": b"2"})), "duplicate", "bad"),
        "control": (tar_of(fine, ("b\x1b[2Jad", {}), form=tarfile.PAX_FORMAT), "unsafe_path", "b?[2Jad"),
        "endless name": (tar_of(fine, ("b/" * 2100 + "d", {})), "too_long_name", ("b/" * 2100)[:200]),
        "long part": (tar_of(fine, ("b" * 256, {})), "too_long_name", "b" * 200),
        "sparse bomb": (sparse_bomb(1 << 32), "too_large", "bomb"),
        "claims": (tar_of(fine) [:1024] + claim(1 << 33), "too_large", "bad"),
        "gzip bomb": (gzip.compress(tar_of(("bad", {"data": bytes(64 << 20)})), 9), "too_dense", "bad"),
        "zstd bomb": (packed("zstd", tar_of(("bad", {"data": bytes(64 << 20)}))), "too_dense", "bad"),
        "packed twice": (gzip.compress(gzip.compress(tar_of(fine))), "malformed", None),
        "packed otherwise": (lzma.compress(tar_of(fine)), "malformed", None),
        "words without end": (pax_of("bad", {"comment": "x" * (40 << 20)}), "malformed", None),
        "a size of words": (pax_of("bad", {"size": str(1 << 62)}), "too_large", "bad"),
        "a name of gibibytes": (long_name((1 << 32) + 5), "malformed", None),
        "many entries": (tar_of(*((f"n{n}", {}) for n in range(1001))), "too_many_entries", "n1000"),
        "cut short": (tar_of(("bad", {"data": bytes(9000)}))[:5000], "malformed", "bad"),
        "none": (b"this is no archive" * 100, "malformed", None),
        "empty": (b"", "malformed", None),
    }


def packed(program, data):
    """By it, or where it is not there by gzip."""
    if not has(program):
        return gzip.compress(data, 9)
    return subprocess.run([program, "-c"], input=data, capture_output=True, check=True).stdout


def claim(size):
    info = tarfile.TarInfo("bad")
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)


def hostile_archives(node):
    """C192, C193, C194: refused by name and rule; what lies beside the target is as it was; the counter-arm without the trick is taken."""
    with node.client() as client:
        sandbox = made(client, WORKSPACE)
        tree, files = paths(sandbox)
        equal(client.ask("PUT", f"{files}?path=/workspace/beside", "kept").status, 204)
        before = shell(client, sandbox, "cd /; find /tmp /workspace /etc | sha256sum; cat /workspace/beside")
        for name, (archive, rule, entry) in tricks().items():
            answer = put(node, f"{tree}?path=/workspace/in/to", archive)
            equal((answer.status, answer.json["code"], answer.json["rule"]), (422, "CORDON-API-ARCHIVE", rule), name, answer)
            equal(answer.json.get("entry"), entry, name)
            expect(rule in answer.json["detail"], answer)
            client.ask("DELETE", f"{files}?path=/workspace/in")
            equal(shell(client, sandbox, "cd /; find /tmp /workspace /etc | sha256sum; cat /workspace/beside"), before, name)
        fine = tar_of(("tmp/bad", {}), link("l", "/tmp"), ("ll/bad", {}), ("f", {}), hard("h", "f"), *((f"n{n}", {}) for n in range(990)))
        equal(client.ask("PUT", f"{tree}?path=/workspace/in/to", fine).status, 200, "the counter-arm")
        equal(client.ask("GET", "/v1/health").status, 200)
        expect(not children(node, "cordon-unpack"), "a cordon-unpack was left")


def children(node, name):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)
            if words[0].endswith("(" + name) and int(words[1].split()[1]) == node.node.pid:
                found.append(int(pid))
        except (OSError, IndexError):
            continue
    return found


def links_inside_the_target(node):
    """C192: what is in the target already leads nowhere either; a token for a path is held there."""
    bound_to = node.mint("--tenant", "default", "--path", "/workspace/mine")
    with node.client() as client, node.client(token=bound_to) as bound:
        sandbox = made(client, WORKSPACE)
        tree, _ = paths(sandbox)
        shell(client, sandbox, "mkdir -p /workspace/mine/to /workspace/other; ln -s /workspace/other /workspace/mine/to/away;"
                               " ln -s ../../other /workspace/mine/to/up; ln -s /workspace/other /workspace/mine/door")
        for name in ("away/f", "up/f"):
            answer = put(node, f"{tree}?path=/workspace/mine/to", tar_of((name, {"data": b"x"})))
            expect(answer.status in (400, 503) and name in answer.json["detail"], answer)
        equal(client.ask("PUT", f"{tree}?path=/workspace/mine/to", tar_of(("away", {"data": b"x"}))).status, 200, "a file in the place of a link")
        for method, path in (("PUT", "/workspace/other"), ("PUT", "/workspace/mine/door"), ("GET", "/workspace/other"), ("GET", "/workspace/mine/door"), ("GET", "/")):
            with node.client(token=bound_to) as own:
                answer = own.ask(method, f"{tree}?path={path}", tar_of(("f", {})) if method == "PUT" else None)
            expect(answer.status in (400, 403, 503), method, path, answer)
        equal(inside(client, sandbox, "/workspace/other"), [])
        equal(bound.ask("PUT", f"{tree}?path=/workspace/mine/in", tar_of(("f", {"data": b"x"}))).status, 200)
        equal(bound.ask("GET", f"{tree}?path=/workspace/mine/in").status, 200)
        read_only = node.mint("--tenant", "default", "--operation", "file.read")
        with node.client(token=read_only) as reader:
            equal(reader.ask("GET", f"{tree}?path=/workspace/mine/in").status, 200)
        with node.client(token=read_only) as reader:
            equal(reader.ask("PUT", f"{tree}?path=/workspace/mine/in", tar_of(("f", {}))).status, 403)


def races_inside(node):
    """C006, C192: a workload that swaps directories for links all the while: nothing of the archive lands where it points to."""
    outside = node.base / "outside"
    outside.mkdir()
    outside.chmod(0o777)
    with node.client() as client:
        sandbox = made(client, WORKSPACE)
        tree, files = paths(sandbox)
        shell(client, sandbox, "mkdir -p /workspace/to /workspace/trap")
        racer = started(client, sandbox, "sh", "-c", f"cd /workspace/to; while :; do mkdir -p d; mv d x; ln -s ../trap d; rm -f d; ln -s {outside} d;"
                                                     " rm -f d; rm -rf x; done")
        entries = [("d", {"type": tarfile.DIRTYPE, "mode": 0o755})] + [(f"d/f{n}", {"data": b"x" * 100}) for n in range(200)]
        seen = set()
        until = time.monotonic() + 6
        while time.monotonic() < until:
            seen.add(put(node, f"{tree}?path=/workspace/to", tar_of(*entries)).status)
        client.ask("POST", racer + "/signal", {"signal": "KILL", "group": True})
        equal(inside(client, sandbox, "/workspace/trap"), [], "through a link, after", seen)
        equal(list(outside.iterdir()), [], "outside of the sandbox")
        # The counter-arm: a file alone goes where the workload's links lead, and the same link stops an archive.
        shell(client, sandbox, "cd /workspace/to; rm -rf d x; ln -s ../trap d")
        equal(put(node, f"{tree}?path=/workspace/to", tar_of(("d/f", {}))).status, 400)
        equal(inside(client, sandbox, "/workspace/trap"), [])
        equal(put(node, f"{files}?path=/workspace/to/d/f", b"x").status, 204)
        equal(inside(client, sandbox, "/workspace/trap"), ["f"])
    return f"answers {sorted(seen)}"


def ten_thousand_files(node):
    """A tree as agents have them, both ways, in seconds."""
    source = random.Random(1)
    entries = []
    for directory in range(100):
        entries.append((f"d{directory}", {"type": tarfile.DIRTYPE, "mode": 0o755}))
        entries += [(f"d{directory}/f{n}", {"data": source.randbytes(source.randrange(2000)), "mode": 0o644}) for n in range(100)]
    archive = tar_of(*entries)
    with node.client(timeout=slow(120)) as client:
        sandbox = made(client, WORKSPACE)
        tree, _ = paths(sandbox)
        began = time.monotonic()
        answer = client.ask("PUT", f"{tree}?path=/workspace/t", archive)
        up = time.monotonic() - began
        equal((answer.status, answer.json["entries"]), (200, 10_100), answer)
        began = time.monotonic()
        back = client.ask("GET", f"{tree}?path=/workspace/t")
        down = time.monotonic() - began
        equal(back.status, 200)
        with tarfile.open(fileobj=io.BytesIO(back.body)) as tar:
            got = {each.name: tar.extractfile(each).read() for each in tar if each.isfile()}
        equal(got, {name: facts["data"] for name, facts in entries if "data" in facts})
        # Far from what it takes, and far below a round trip for each file.
        expect(up < slow(20) and down < slow(20), f"up {up:.1f} s, down {down:.1f} s")
    return f"up {up:.2f} s, down {down:.2f} s"


def fifty_mebibytes(node):
    """One large file by the routes of files and by those of trees: the same bytes."""
    data = random.Random(2).randbytes(50 << 20)
    digest = hashlib.sha256(data).hexdigest()
    with node.client(timeout=120) as client:
        sandbox = made(client, WORKSPACE)
        tree, files = paths(sandbox)
        began = time.monotonic()
        equal(put(node, f"{files}?path=/workspace/t/one", data).status, 404, "no directory yet")
        with node.client(timeout=120) as own:
            equal(own.ask("PUT", f"{files}?path=/workspace/t/one&parents=true", data).status, 204)
        equal(shell(client, sandbox, "sha256sum < /workspace/t/one").split()[0], digest)
        equal(hashlib.sha256(client.ask("GET", f"{files}?path=/workspace/t/one").body).hexdigest(), digest)
        by_file = time.monotonic() - began
        began = time.monotonic()
        with tarfile.open(fileobj=io.BytesIO(client.ask("GET", f"{tree}?path=/workspace/t").body)) as tar:
            equal(hashlib.sha256(tar.extractfile("one").read()).hexdigest(), digest)
        equal(client.ask("PUT", f"{tree}?path=/workspace/u", tar_of(("two", {"data": data}))).json["bytes"], 50 << 20)
        equal(shell(client, sandbox, "sha256sum < /workspace/u/two").split()[0], digest)
    return f"files {by_file:.1f} s, trees {time.monotonic() - began:.1f} s"


def bounds_and_leavers(node):
    """C194: as many at once as are configured; a client that leaves takes its cordon-unpack along; a full disk is told."""
    with node.client() as client:
        sandbox = made(client, {"policy": {"resources": {"memory_limit": "128Mi", "disk_limit": "8Mi"}}})
        tree, _ = paths(sandbox)
        slow = [node.client() for _ in range(2)]
        for each in slow:
            each.connection.putrequest("PUT", f"{tree}?path=/workspace/s")
            each.connection.putheader("Content-Length", "1000000")
            each.connection.endheaders()
            each.connection.send(tar_of(("f", {}))[:512])
        await_children(node, 2)
        answer = put(node, f"{tree}?path=/workspace/t", tar_of(("f", {})))
        equal((answer.status, answer.json["code"]), (429, "CORDON-API-EXHAUSTED"), answer)
        for each in slow:
            each.connection.close()
        await_children(node, 0)
        full = put(node, f"{tree}?path=/workspace/t", tar_of(("f", {"data": bytes(12 << 20)})))
        expect(full.status in (429, 503) and "f" in full.json["detail"], full)
        equal(client.ask("PUT", f"{tree}?path=/workspace/t", tar_of(("f", {}))).status, 200, "and then there is room again")
        # Out too there are bounds: told before, or by an answer that breaks off.
        shell(client, sandbox, "mkdir /workspace/many; cd /workspace/many; touch $(seq 1 1001)")
        answer = None
        try:
            with node.client() as own:
                answer = own.ask("GET", f"{tree}?path=/workspace/many")
        except OSError as broken:
            answer = broken
        except Exception as broken:  # noqa: BLE001: http.client has several names for it
            answer = broken
        expect(isinstance(answer, Exception) or answer.status != 200, "more entries than are allowed:", answer)
        await_children(node, 0)


def await_children(node, count):
    until = time.monotonic() + 10
    while len(children(node, "cordon-unpack")) != count:
        expect(time.monotonic() < until, "cordon-unpack:", children(node, "cordon-unpack"), "not", count)
        time.sleep(0.02)


def the_worker_is_confined(node):
    """C192, C194: a cordon-unpack at work has no rights, no files, a filter, and bounds."""
    with node.client() as client:
        sandbox = made(client)
        client.connection.putrequest("PUT", f"/v1/sandboxes/{sandbox}/tree?path=/workspace/s")
        client.connection.putheader("Content-Length", "1000000")
        client.connection.endheaders()
        client.connection.send(tar_of(("f", {}))[:512])
        await_children(node, 1)
        pid = children(node, "cordon-unpack")[0]
        until = time.monotonic() + 10
        # Its own beside that of cordond, which it began with.
        while "Seccomp_filters:\t2" not in pathlib.Path(f"/proc/{pid}/status").read_text():
            expect(time.monotonic() < until, pathlib.Path(f"/proc/{pid}/status").read_text())
            time.sleep(0.01)
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        expect("NoNewPrivs:\t1" in status and "CapEff:\t0000000000000000" in status, status)
        equal(sorted(os.listdir(f"/proc/{pid}/fd")), ["0", "1", "2"])
        equal(int(status.split("Uid:\t")[1].split()[0]), node.uid)
        limits = pathlib.Path(f"/proc/{pid}/limits").read_text()
        expect("Max open files            3 " in limits, limits)


CHECKS = {f.__name__: f for f in (there_and_back, hostile_archives, links_inside_the_target, races_inside, ten_thousand_files, fifty_mebibytes,
                                  bounds_and_leavers, the_worker_is_confined)}
SETTINGS = {"hostile_archives": "[transfers]\nentries = 1000\nbytes = \"1Gi\"\n",
            "bounds_and_leavers": "[transfers]\nat_once = 2\nentries = 1000\n"}


def make_node(programs, settings=""):
    return Daemon(programs, settings=settings, tools=TOOLS)


if __name__ == "__main__":
    api.SETTINGS.update(SETTINGS)
    api.main(CHECKS, make_node)
