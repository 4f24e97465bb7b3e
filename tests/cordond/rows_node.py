# SPDX-License-Identifier: Apache-2.0
"""Rows of the containment matrix at the API of a node: bytes that mean something elsewhere, budgets, and what is inside.
`rows_node.py PROGRAMS [NAME...]`. 77: needs root."""
import base64
import json
import tarfile
import urllib.parse

import api
from api import DENIED, equal, expect, joined, made, started
from rows import awaited, make_node, records
from tokens import attenuated
from trees import paths, shell, tar_of

# What ends a line, an event, a text or a character, somewhere.
ODD = (b"\xff\xfe", b"a\x00b", b"\xed\xa0\x80\xed\xb0\x80", b"\n\ndata: forged\n\n", b'"}\n{"event":"exit","process":{}}\n', b"\xc0\xaf", b"\r\nevent: x\r\n",
       b"\xe2\x80\xa8\xe2\x80\xae", b"\x1b]0;x\x07", b"\xf4\x90\x80\x80", b"\\ud800", b"\xef\xbb\xbf{}")


def strictly(data):
    """Each line is JSON by itself, and there is nothing else."""
    expect(data.endswith(b"\n") or not data, "no end of the last line:", data[-100:])

    def no_constant(word):
        raise AssertionError(f"{word} is no JSON")
    return [json.loads(line.decode("utf-8", "strict"), parse_constant=no_constant) for line in data.split(b"\n")[:-1]]


def bytes_of(line, name):
    return line[name].encode() if name in line else base64.b64decode(line[name + "_base64"])


def bytes_that_mean_something_elsewhere(node):
    """C191: invalid UTF-8, NUL, newlines, surrogates and what looks like an event, in output, events, labels, names of files and the audit log:
    every line is valid JSON and exactly one event. The counter-arm: the bytes arrive, as they are."""
    with node.client(tenant="a") as client, node.client(tenant="a") as watcher:
        sandbox = made(client)
        _, files = paths(sandbox)
        for odd in ODD:
            octal = "".join(f"\\{byte:03o}" for byte in odd)
            process = started(client, sandbox, "sh", "-c", f"printf '{octal}'; printf '{octal}' >&2")
            client.ask("GET", process + "/wait")
            lines = strictly(client.ask("GET", process + "/output").body)
            for stream in ("stdout", "stderr"):
                equal(b"".join(bytes_of(line, "data") for line in lines if line["event"] == stream), odd, stream)
            expect(set(line["event"] for line in lines) <= {"stdout", "stderr", "stdout_end", "stderr_end", "end", "exit"} and
                   [line["event"] for line in lines].count("exit") == 1, odd, lines)
        # Names of files: of the listing, of what changes, of the record.
        names = [odd.replace(b"\0", b"").replace(b"/", b"") for odd in ODD]
        shell(client, sandbox, "mkdir /workspace/n")
        watching = watcher.open(f"{files}/watch?path=/workspace/n")
        equal(json.loads(watching.readline()), {"event": "watching"})
        for name in names:
            at = urllib.parse.quote_from_bytes(b"/workspace/n/" + name)
            equal(client.ask("PUT", f"{files}?path={at}", b"x").status, 204, name)
        listed = strictly(client.ask("GET", f"{files}/list?path=/workspace/n").body + b"\n")[0]["entries"]
        equal(sorted(bytes_of(entry, "name") for entry in listed), sorted(set(names)))
        told = set()
        while told != set(names):
            line = strictly(watching.readline())
            equal(len(line), 1)
            told.add(bytes_of(line[0], "name"))
        strictly(b"".join(node.audit_lines()))
        equal(len(records(node, sandbox, "file_written")), len(names))
        # Labels and commands are JSON already, so that they hold whatever a JSON text does.
        for odd in ODD:
            word = odd.decode("utf-8", "replace").replace("\0", "")
            labelled = client.ask("POST", "/v1/sandboxes", {"labels": {"l": word}})
            expect(labelled.status in (201, 400), word, labelled)
            if labelled.status == 201:
                equal(strictly(client.ask("GET", f"/v1/sandboxes/{labelled.json['id']}").body + b"\n")[0]["labels"], {"l": word})
                equal(client.ask("DELETE", f"/v1/sandboxes/{labelled.json['id']}").status, 200)
            client.ask("POST", f"/v1/sandboxes/{sandbox}/processes", {"command": [f"/nowhere/{word}"]})
        events = lambda: strictly(client.ask("GET", f"/v1/sandboxes/{sandbox}/events?follow=false").body)      # noqa: E731
        failed = awaited(lambda: [line for line in events() if line["event"] == "process.failed"][len(ODD) - 1:] and events())
        equal(sum(line["event"] == "process.failed" for line in failed), len(ODD))
        equal([line["cursor"].rsplit("-", 1)[1] for line in failed], sorted({line["cursor"].rsplit("-", 1)[1] for line in failed}, key=int), "one event for each line")


def special_entries_are_made_plain(node):
    """C193: set-id and sticky bits, an owner, attributes, capabilities, access lists and flags of an entry: what is made is a file of the workload's,
    with the bits of its mode. The counter-arm: the file is there, with its bytes and its name."""
    words = {"SCHILY.xattr.security.capability": "\x01\0\0\2", "SCHILY.xattr.user.x": "y", "SCHILY.xattr.trusted.x": "y", "LIBARCHIVE.xattr.user.z": "eA==",
             "SCHILY.fflags": "schg,uappnd", "uid": "0", "gid": "0", "uname": "root", "gname": "root"}
    entry = {"mode": 0o7755, "data": b"text", "pax_headers": words, "uid": 0, "gid": 0, "uname": "root", "gname": "root"}
    archive = tar_of(("f", entry), ("d", {**entry, "type": tarfile.DIRTYPE, "data": b""}), form=tarfile.PAX_FORMAT)
    with node.client() as client:
        sandbox = made(client)
        tree, _ = paths(sandbox)
        answer = client.ask("PUT", f"{tree}?path=/workspace/t", archive)
        equal((answer.status, answer.json.get("entries")), (200, 2), answer)
        own = shell(client, sandbox, "id -u; id -g").split()
        for name in ("f", "d"):
            equal(shell(client, sandbox, f"stat -c '%a %u %g' /workspace/t/{name}").split(), ["755", *own], name)
            found = shell(client, sandbox, f"perl -e 'my ($p, $b) = (\"/workspace/t/{name}\", \"\\0\" x 4096); print syscall(194, $p, $b, 4096), substr($b, 0, 60)'")
            expect(found.strip("\0") == "0", "attributes of", name, repr(found))
        equal(shell(client, sandbox, "cd /workspace/t; cat f; echo more >> f; rm -r f d; ls -A"), "text")


def budgets_in_five_levels(node):
    """C288: what the tokens of a tree take together never exceeds what any of their parents was given, however wide a child says it is."""
    most = 3
    token = node.mint("--tenant", "a", "--budget", f"sandboxes={most}")
    leaves, level = [], [token]
    for depth in range(5):
        level = [attenuated(node, each, "--budget", f"sandboxes={wanted}") for each in level[:2] for wanted in (100, most - (depth == 4))]
        leaves += level
    with node.client(token=node.mint("--tenant", "a")) as free:
        living, spent = [], 0
        for leaf in reversed(leaves):
            with node.client(token=leaf) as client:
                answer = client.ask("POST", "/v1/sandboxes", {})
                expect(answer.status in (201, 429), answer)
                living += [answer.json["id"]] if answer.status == 201 else []
                spent += answer.status == 429
            expect(len(living) <= most, "children have more than their parent:", living)
        equal((len(living), spent), (most, len(leaves) - most))
        with node.client(token=token) as client:
            equal(client.ask("POST", "/v1/sandboxes", {}).status, 429, "the parent, when its children have all:")
            equal(client.ask("DELETE", f"/v1/sandboxes/{living[0]}").status, 200)
        with node.client(token=leaves[-2]) as client:
            made(client)
            equal(client.ask("POST", "/v1/sandboxes", {}).status, 429)
        made(free)      # the counter-arm: without the budget
    return f"{len(leaves)} tokens in 5 levels"


def a_token_of_one_sandbox(node):
    """C288, C289: it makes no other, and of the others it sees none; whatever is derived from it neither."""
    with node.client(token=node.mint("--tenant", "a")) as free:
        mine, other = made(free), made(free)
        bound = node.mint("--tenant", "a", "--sandbox", mine)
        for token in (bound, attenuated(node, bound, "--budget", "sandboxes=5"), attenuated(node, bound, "--sandbox", other)):
            with node.client(token=token) as client:
                for path, body in (("/v1/sandboxes", {}), ("/v1/run", {"command": ["true"]}), (f"/v1/sandboxes/{other}/processes", {"command": ["true"]})):
                    equal(client.ask("POST", path, body).status, DENIED, path)
                equal(client.ask("DELETE", f"/v1/sandboxes/{other}").status, DENIED)
        with node.client(token=bound) as client:
            equal(client.ask("POST", f"/v1/sandboxes/{mine}/processes", {"command": ["true"]}).status, 201, "the counter-arm:")
        equal(free.ask("GET", f"/v1/sandboxes/{other}").json["state"], "running")


def nothing_of_the_node_is_inside(node):
    """C289: no socket, no token, no key and no variable of the node: neither in files, nor in environments, nor in descriptors."""
    token = node.mint("--tenant", "a")
    with node.client(token=token) as client:
        sandbox = made(client)
        started(client, sandbox, "sleep", "100")
        equal(shell(client, sandbox, "find / -xdev -type s 2>/dev/null; find /tmp /run /workspace /dev /var -type s 2>/dev/null"), "", "sockets:")
        seen = shell(client, sandbox, "env; cat /proc/[0-9]*/environ 2>/dev/null; cat /proc/self/mountinfo /proc/self/cgroup; ls -l /proc/[0-9]*/fd 2>/dev/null;"
                                      " cat /proc/net/unix 2>/dev/null; find / -xdev -name '*cordon*' 2>/dev/null")
        key = node.key.read_text().strip()
        for word in (token, token[5:40], key, node.socket, "cordond", "launcher", "CORDON_TOKEN", "CORDON_NODE", "cdn1_", "cdnk_", "Bearer"):
            expect(word not in seen, "inside there is", word, [line for line in seen.splitlines() if word in line][:3])
        # The counter-arm: the same search finds what is there.
        process = started(client, sandbox, "sh", "-c", "cat /proc/[0-9]*/environ 2>/dev/null", environment={"CORDON_TOKEN": token})
        expect(token.encode() in joined(client.lines(process + "/output"), "stdout"), "the search finds nothing at all")
        shell(client, sandbox, "perl -e 'socket(S, 1, 1, 0); bind(S, pack(\"S Z108\", 1, \"/workspace/s\")) or die'")
        equal(shell(client, sandbox, "find /workspace -type s"), "/workspace/s\n")


CHECKS = {f.__name__: f for f in (bytes_that_mean_something_elsewhere, special_entries_are_made_plain, budgets_in_five_levels, a_token_of_one_sandbox, nothing_of_the_node_is_inside)}

if __name__ == "__main__":
    api.main(CHECKS, make_node)
