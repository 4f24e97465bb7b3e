# SPDX-License-Identifier: Apache-2.0
"""Rows of the containment matrix at the API of a node: links, races and downloads. `rows.py PROGRAMS [NAME...]`. 77: needs root.
CORDON_RACES says how many requests a race has (100,000 in `./dev full`)."""
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import shutil
import tempfile
import threading
import time

import api
from api import equal, expect, made, started
from daemon import Daemon
from trees import TOOLS, WORKSPACE, paths, shell, tar_of

CANARY = b"bytes of the host that nobody inside may see"
RACES = int(os.environ.get("CORDON_RACES", "600"))
BROKEN = (http.client.HTTPException, OSError)


@contextlib.contextmanager
def canary():
    """A directory of the host below /tmp, where sandboxes have their own, with a file in it."""
    top = pathlib.Path(tempfile.mkdtemp(prefix="cordon-canary-", dir="/tmp"))
    try:
        top.chmod(0o777)
        (top / "y").write_bytes(CANARY)
        (top / "y").chmod(0o666)
        yield top
    finally:
        shutil.rmtree(top, ignore_errors=True)


def state_of(top):
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_mode, path.read_bytes() if path.is_file() else b"") for path in (top, *top.rglob("*"))}


def ask(node, token, method, path, body=None):
    """On a connection of its own: the status, and whatever came, also of an answer that breaks off."""
    with node.client(token=token, timeout=20) as client:
        try:
            client.connection.request(method, path, body=body, headers=client.fields)
            got = client.connection.getresponse()
            return got.status, got.read()
        except http.client.IncompleteRead as part:
            return 0, part.partial


def acts_on(sandbox, path):
    """One of each route that has a path, and the body that it takes."""
    tree, files = paths(sandbox)
    archive = tar_of(("y", {"data": b"of an archive"}), ("z", {"data": b"of an archive"}))
    return (("GET", f"{files}?path={path}", None), ("GET", f"{files}?path={path}&offset=6&length=5", None), ("GET", f"{files}/stat?path={path}", None),
            ("GET", f"{files}/stat?path={path}&follow=true", None), ("GET", f"{files}/list?path={path}", None), ("GET", f"{tree}?path={path}", None),
            ("GET", f"{tree}?path=/workspace", None), ("PUT", f"{files}?path={path}", b"written"), ("PUT", f"{files}?path={path}&mode=0600&parents=true", b"written"),
            ("PUT", f"{tree}?path={path}", archive), ("POST", f"{files}/directory?path={path}", None), ("POST", f"{files}/directory?path={path}&mode=0700&parents=true", None),
            ("POST", f"{files}/move?path={path}&to=/workspace/moved", None), ("POST", f"{files}/move?path=/workspace/own&to={path}", None), ("DELETE", f"{files}?path={path}", None))


def links_to_the_host(node):
    """C005: every file route, at links that name a path of the host: never its bytes, never a touch. What lies at that path inside is delivered."""
    token = node.mint("--tenant", "a")
    tried = 0
    with canary() as top, node.client(token=token, timeout=20) as client:
        sandbox = made(client, WORKSPACE)
        tree, files = paths(sandbox)
        before = state_of(top)
        for target in (f"{top}", f"{top}/y", f"../../../../../../../..{top}", f"/proc/1/root{top}", f"/proc/self/root{top}/y", f"/proc/self/cwd/../..{top}"):
            for path in ("/workspace/x", "/workspace/x/y"):
                is_new = False
                for method, at, body in acts_on(sandbox, path):
                    if not is_new:
                        shell(client, sandbox, f"cd /workspace; rm -rf x moved own {top}; ln -s {target} x; echo own > own")
                    is_new = method == "GET"
                    status, got = ask(node, token, method, at, body)
                    expect(CANARY not in got and CANARY[6:11] not in got, target, method, at, "delivered the host's bytes")
                    expect(status != 500, target, method, at, got)
                    equal(state_of(top), before, target, method, at)
                    tried += 1
            with node.client(token=token) as watcher:
                shell(client, sandbox, f"cd /workspace; rm -rf x; ln -s {target} x")
                expect(watcher.ask("GET", f"{files}/watch?path=/workspace/x").status in (403, 404), "watched:", target)
        # The counter-arm: what the sandbox has at that path itself goes through each of them.
        shell(client, sandbox, f"cd /workspace; rm -rf x; mkdir {top}; echo inside > {top}/y; ln -s {top} x")
        equal(ask(node, token, "GET", f"{files}?path=/workspace/x/y"), (200, b"inside\n"))
        equal(ask(node, token, "GET", f"{files}/stat?path=/workspace/x/y")[0], 200)
        expect(b'"y"' in ask(node, token, "GET", f"{files}/list?path=/workspace/x")[1], "a listing through a link inside")
        equal(ask(node, token, "PUT", f"{files}?path=/workspace/x/y", b"written")[0], 204)
        equal(shell(client, sandbox, f"cat {top}/y"), "written")
        with node.client(token=token) as watcher:
            equal(next(watcher.lines(f"{files}/watch?path=/workspace/x")), {"event": "watching"})
        equal(ask(node, token, "POST", f"{files}/move?path=/workspace/x/y&to=/workspace/x/w")[0], 204)
        equal(ask(node, token, "DELETE", f"{files}?path=/workspace/x/w")[0], 204)
        equal(shell(client, sandbox, f"ls -A {top}"), "")
        equal(state_of(top), before)
    return f"{tried} requests"


# renameat2 with RENAME_EXCHANGE, for ever, with breaths: whoever reads the file needs the sandbox's processor too.
SWAP = "my ($a, $b) = @ARGV; while (1) { syscall(316, -100, $a, -100, $b, 2) == 0 or die $!; $n++ % 7 or select(undef, undef, undef, 0.0002); }"


def swapping(client, sandbox, one, other):
    return started(client, sandbox, "perl", "-e", SWAP, one, other)


def raced(node, token, count, requests, judge):
    """So many requests, over a few kept connections at once. `judge` is given each answer."""
    wrong, left, lock = [], [count], threading.Lock()

    def work(number):
        client = node.client(token=token, timeout=20)
        try:
            turn = number
            while not wrong:
                with lock:
                    if left[0] <= 0:
                        return
                    left[0] -= 1
                method, path, body = requests[turn % len(requests)]
                turn += 1
                try:
                    client.connection.request(method, path, body=body, headers=client.fields)
                    got = client.connection.getresponse()
                    judge(method, path, got.status, got.read())
                except BROKEN:      # a refused archive ends its connection
                    client.connection.close()
        except AssertionError as error:
            wrong.append(error)
        finally:
            client.connection.close()

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    if wrong:
        raise wrong[0]


def exchanged(node, way, outside, token, free, count):
    """Requests through `way`, which is a directory and a link to `outside` by turns: what the two tokens have read, and what is outside then."""
    inside, forbidden = "inside", "forbidden"
    with node.client(token=free, timeout=20) as client:
        sandbox = made(client, {**WORKSPACE, "timeout_seconds": 3600})
        tree, files = paths(sandbox)
        shell(client, sandbox, f"mkdir -p {way} {outside}; echo {inside} > {way}/f; echo {forbidden} > {outside}/f; ln -s {outside} {way}.link")
        racer = swapping(client, sandbox, way, way + ".link")
        seen = {"bound": set(), "free": set()}
        here = (("GET", f"{files}?path={way}/f", None), ("GET", f"{files}/list?path={way}", None),
                ("DELETE", f"{files}?path={way}/g", None), ("PUT", f"{files}?path={way}/g", "new"), ("GET", f"{files}/stat?path={way}/f&follow=true", None),
                ("POST", f"{files}/move?path={way}/g&to={way}/h", None), ("GET", f"{tree}?path={way}", None))

        def judge(who):
            def judged(method, path, status, body):
                expect(CANARY not in body, method, path, "delivered the host's bytes")
                if method == "GET" and "files?" in path and status == 200:
                    seen[who].add(body.decode().strip())
                if who == "bound" and token != free:
                    expect(forbidden.encode() not in body, method, path, "was led out of its directory:", body[:200])
            return judged

        raced(node, token, count, (*here[:-1], *here[:-1], *here), judge("bound"))     # a tree takes as long as many files
        client.connection.close()       # nobody keeps it for so long; it opens anew
        outside_is = shell(client, sandbox, f"ls -A {outside}; cat {outside}/f")
        raced(node, free, 100, here[:1], judge("free"))
        equal(client.ask("GET", racer).json["state"], "running", "the racer:")
        client.ask("POST", racer + "/signal", {"signal": "KILL", "group": True})
        equal(client.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, 200)
        return seen, outside_is


def swapped_while_it_is_resolved(node):
    """C006: a directory and a link change places all the while: the host's file stays as it is and unread, and a token for a path stays in it.
    The counter-arms: without the caveat the same link is followed, to what the sandbox itself has there."""
    free, bound = node.mint("--tenant", "a"), node.mint("--tenant", "a", "--path", "/workspace/in")
    with canary() as top:
        before = state_of(top)
        to_host, _ = exchanged(node, "/workspace/d", str(top), free, free, RACES // 2)
        equal(state_of(top), before)
        expect("forbidden" in to_host["bound"] and "inside" in to_host["bound"], "the link was never met:", to_host)
        within, outside = exchanged(node, "/workspace/in/d", "/workspace/out", bound, free, RACES // 2)
        equal(outside, "f\nforbidden\n", "beside the token's directory")
        equal(within["bound"], {"inside"})
        expect("forbidden" in within["free"], "the counter-arm never met the link:", within)
    return f"{RACES} requests"


def records(node, sandbox, *events):
    """Of the audit log, each line of which is one JSON text."""
    lines = [json.loads(line) for line in node.audit_lines()]
    return [line for line in lines if line.get("sandbox") == sandbox and (not events or line["event"] in events)]


def awaited(what, seconds=10):
    until = time.monotonic() + seconds
    while not (got := what()):
        expect(time.monotonic() < until, "it does not come")
        time.sleep(0.02)
    return got


def what_was_delivered_is_recorded(node):
    """C200: each file and tree that goes over is in the audit log with the hash of its bytes as they went, also where the sandbox rewrites them
    meanwhile and where the client leaves."""
    token = node.mint("--tenant", "a")
    with node.client(token=token, timeout=60) as client:
        sandbox = made(client, WORKSPACE)
        tree, files = paths(sandbox)

        def last(event):
            line = records(node, sandbox, event)[-1]
            expect(line["request"], line)
            return line["tenant"], line["path"], line["bytes"], line["sha256"], line["whole"]

        def as_it_went(data, path="/workspace/f", whole=True):
            return "a", path, len(data), hashlib.sha256(data).hexdigest(), whole

        data = os.urandom(3_500_000)
        equal(client.ask("PUT", f"{files}?path=/workspace/f", data).status, 204)
        equal(last("file_written"), as_it_went(data))
        equal(client.ask("GET", f"{files}?path=/workspace/f").body, data)
        equal(last("file_read"), as_it_went(data))
        equal(client.ask("GET", f"{files}?path=/workspace/f&offset=5&length=7").body, data[5:12])
        equal((last("file_read"), records(node, sandbox, "file_read")[-1]["offset"]), (as_it_went(data[5:12]), 5))
        equal(client.ask("PUT", f"{files}?path=/workspace/empty", b"").status, 204)
        equal(last("file_written"), as_it_went(b"", "/workspace/empty"))
        archive = tar_of(("one", {"data": data}), ("two", {"data": b"2"})) + bytes(200_000)
        equal(client.ask("PUT", f"{tree}?path=/workspace/t", archive).status, 200)
        equal(last("tree_written"), as_it_went(archive, "/workspace/t"))
        got = client.ask("GET", f"{tree}?path=/workspace/t&format=tar.gz").body
        equal(last("tree_read"), as_it_went(got, "/workspace/t"))
        # Nothing went over: nothing is recorded as if it had.
        moved = ("file_read", "file_written", "tree_read", "tree_written")
        count = len(records(node, sandbox, *moved))
        for method, at, body in (("GET", f"{files}?path=/workspace/none", None), ("PUT", f"{files}?path=/usr/bin/x", b"x"), ("GET", f"{tree}?path=/workspace/none", None)):
            expect(client.ask(method, at, body).status in (403, 404), method, at)
        equal(len(records(node, sandbox, *moved)), count)
        # The race: what the record says is what this client has, whatever the file was before and is now.
        writer = started(client, sandbox, "perl", "-e", 'open(F, "+<", "/workspace/f"); while (1) { sysseek(F, 0, 0); syswrite(F, chr($n++ % 256) x 3500000); }')
        seen = set()
        for _ in range(12):
            got = client.ask("GET", f"{files}?path=/workspace/f").body
            equal(last("file_read"), as_it_went(got))
            seen.add(hashlib.sha256(got).hexdigest())
        expect(len(seen) > 1, "the file did not change meanwhile")
        client.ask("POST", writer + "/signal", {"signal": "KILL", "group": True})
        # A client that leaves: a part, in both directions.
        shell(client, sandbox, "truncate -s 200M /workspace/zeros")
        for path, event, at in ((f"{files}?path=/workspace/zeros", "file_read", "/workspace/zeros"), (f"{tree}?path=/workspace/zeros", "tree_read", "/workspace/zeros")):
            with node.client(token=token) as leaver:
                leaver.open(path).read(100_000)
            line = awaited(lambda: [each for each in records(node, sandbox, event) if each["path"] == at and not each["whole"]])[-1]
            expect(100_000 <= line["bytes"] < 200 << 20, line)
        with node.client(token=token) as leaver:
            leaver.connection.putrequest("PUT", f"{files}?path=/workspace/part")
            for name, value in {**leaver.fields, "Content-Length": str(8 << 20)}.items():
                leaver.connection.putheader(name, value)
            leaver.connection.endheaders()
            leaver.connection.send(data)
            awaited(lambda: shell(client, sandbox, "stat -c %s /workspace/part") == f"{3 << 20}\n")
        line = awaited(lambda: [each for each in records(node, sandbox, "file_written") if each["path"] == "/workspace/part"])[-1]
        equal((line["bytes"], line["sha256"], line["whole"]), (3 << 20, hashlib.sha256(data[:3 << 20]).hexdigest(), False))


# Changes places with a FIFO, with a link to a device that never ends, and with a longer and a shorter file.
CHURN = """my ($n, $fifo) = (0, "/workspace/r/fifo"); while (1) { rename("/workspace/r/" . (qw(file fifo zero random long))[$n++ % 5], "/workspace/r/f");
  symlink("/dev/zero", "/workspace/r/zero"); symlink("/dev/urandom", "/workspace/r/random"); syscall(259, -100, $fifo, 010644, 0);
  for (qw(file long)) { open(F, ">", "/workspace/r/$_"); print F "x" x ($_ eq "long" ? 3000000 : 10); close F; truncate("/workspace/r/f", 5) if $n % 3 == 0; } }"""
MOST = 8 << 20


def downloads_that_change(node):
    """C195: a file that becomes a FIFO, a device without end, longer or shorter while it is read: each answer ends, in bounds, and the node goes on."""
    token = node.mint("--tenant", "a")
    with node.client(token=token, timeout=20) as client:
        sandbox = made(client, WORKSPACE)
        tree, files = paths(sandbox)
        shell(client, sandbox, "cd /workspace; mkdir r; ln -s /dev/zero zero; mkfifo fifo; truncate -s 1T sparse; echo x > r/f; echo plain > plain")
        for name in ("zero", "fifo"):
            equal(ask(node, token, "GET", f"{files}?path=/workspace/{name}")[0], 400, name)
        equal(ask(node, token, "GET", f"{files}?path=/dev/zero")[0], 400)
        status, said = ask(node, token, "GET", f"{files}?path=/workspace/sparse")
        expect(status == 429 and b"transfers.bytes" in said, status, said[:200])
        # The counter-arms: an ordinary file, and a part of the endless one.
        equal(ask(node, token, "GET", f"{files}?path=/workspace/plain"), (200, b"plain\n"))
        equal(ask(node, token, "GET", f"{files}?path=/workspace/sparse&offset={1 << 39}&length=3"), (200, bytes(3)))
        # It grows as it is read: not by bytes, which the disk bounds, but by holes.
        grower = started(client, sandbox, "perl", "-e", 'my $n = 1; open(F, ">", "/workspace/grows"); while (1) { truncate(F, $n += 4096); }')
        awaited(lambda: "file" in shell(client, sandbox, "test -s /workspace/grows && echo file"))
        status, got = ask(node, token, "GET", f"{files}?path=/workspace/grows")
        expect(status in (0, 429) and len(got) <= MOST + 4096, status, len(got))
        client.ask("POST", grower + "/signal", {"signal": "KILL", "group": True})
        racer = started(client, sandbox, "perl", "-e", CHURN)
        answers, worst, until, count = {}, 0.0, time.monotonic() + 2, 0
        while time.monotonic() < until or len(answers) < 2:
            for path in (f"{files}?path=/workspace/r/f", f"{tree}?path=/workspace/r", f"{files}?path=/workspace/r/f&offset=3"):
                began = time.monotonic()
                status, got = ask(node, token, "GET", path)
                worst, count = max(worst, time.monotonic() - began), count + 1
                answers[status] = answers.get(status, 0) + 1
                expect(len(got) <= 2 * MOST and status in (0, 200, 400, 404), path, status, got[:200])
            expect(time.monotonic() < until + 10, "never both, a file and something else:", answers)
        expect(worst < 5, "an answer took", worst)
        equal(client.ask("GET", racer).json["state"], "running", "the racer:")
        equal(ask(node, token, "GET", f"{files}?path=/workspace/plain"), (200, b"plain\n"))
    return f"{count} downloads: {answers}; worst {worst * 1000:.0f} ms"


PAGES = {"page.html": b"<html><script>alert(document.domain)</script></html>", "image.svg": b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
         "code.js": b"alert(1)", "index.htm": b"<!DOCTYPE html><img src=x onerror=alert(1)>"}


def nothing_is_shown_by_a_browser(node):
    """C198: pages, images and scripts of a sandbox come as something to be kept: no type to guess, no rights if it is shown all the same."""
    with node.client() as client:
        sandbox = made(client)
        tree, files = paths(sandbox)
        for name, body in PAGES.items():
            equal(client.ask("PUT", f"{files}?path=/workspace/{name}", body).status, 204)
            # The counter-arm is the body: it is a page, and whole.
            for path, kind in ((f"{files}?path=/workspace/{name}", "application/octet-stream"), (f"{files}?path=/workspace/{name}&offset=0&length=9999", "application/octet-stream"),
                               (f"{tree}?path=/workspace/{name}", "application/x-tar"), (f"{tree}?path=/workspace&format=tar.gz", "application/gzip")):
                answer = client.ask("GET", path)
                equal(answer.status, 200, path, answer)
                equal([answer.fields.get_all(field) for field in ("Content-Type", "Content-Disposition", "X-Content-Type-Options")],
                      [[kind], ["attachment"], ["nosniff"]], path)
                expect(answer.fields["Content-Security-Policy"].startswith("sandbox"), path, answer.fields)
            equal(client.ask("GET", f"{files}?path=/workspace/{name}").body, body)
            # What is said of a name is JSON, whatever the name is.
            refused = client.ask("GET", f"{files}?path=/workspace/%3Cscript%3E{name}")
            expect("json" in refused.fields["Content-Type"] and refused.status == 404, refused, refused.fields)


CHECKS = {f.__name__: f for f in (links_to_the_host, swapped_while_it_is_resolved, downloads_that_change, nothing_is_shown_by_a_browser, what_was_delivered_is_recorded)}
api.SETTINGS.update({"downloads_that_change": f'[transfers]\nbytes = "{MOST >> 20}Mi"\n'})


def make_node(programs, settings=""):
    return Daemon(programs, settings=settings, tools=(*TOOLS, "/usr/bin/perl", "/usr/bin/truncate", "/usr/bin/mkfifo"))


if __name__ == "__main__":
    api.main(CHECKS, make_node)
