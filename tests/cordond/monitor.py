# SPDX-License-Identifier: Apache-2.0
"""What happens inside, as the kernel tells it: recorded under its sandbox, whoever dies, and within bounds. 77: needs root."""
import json
import os
import signal
import sys
import time

from api import equal, expect, main, made, started, SETTINGS
from daemon import Daemon

ALL = {"monitor": {"record": ["exec", "writes", "connects", "sensitive"]}}
TOOLS = ("/usr/bin/mv", "/usr/bin/rm", "/usr/bin/bash", "/usr/bin/unshare", "/usr/sbin/chroot", "/usr/bin/chmod", "/usr/bin/mkfifo")


def of(node, sandbox, *kinds):
    """Its records, in their order."""
    every = [json.loads(line) for line in node.audit_lines()]
    return [record for record in every if record.get("sandbox") == sandbox and (not kinds or record["event"] in kinds)]


def until(node, sandbox, kind, found, seconds=5):
    end = time.monotonic() + seconds
    while True:
        records = of(node, sandbox, kind)
        if some := [record for record in records if found(record)]:
            return some
        expect(time.monotonic() < end, "not recorded:", kind, of(node, sandbox), node.log("cordond"))
        time.sleep(0.02)


def run(client, script, policy=None, shell="sh"):
    answer = client.ask("POST", "/v1/run", {"command": [shell, "-c", script], "policy": policy or {}})
    equal(answer.status, 200, answer)
    return answer.json


def what_happens_inside(node):
    """Programs, files that are written, renamed and removed, names of secrets that are read, connections: each with who did it."""
    with node.client() as client:
        said = run(client, "echo 1 >a; mkdir d; cd d; mv ../a b; rm b; echo k >.env; cat .env >/dev/null; (echo >/dev/tcp/127.0.0.1/9); true", ALL, "bash")
        equal(said["verdict"]["status"], 0, said)
        sandbox = said["id"]
    programs = of(node, sandbox, "program_started")
    names = [record["arguments"] for record in programs]
    equal([words[0] for words in names], ["bash", "mkdir", "mv", "rm", "cat"])
    equal((names[2], programs[2]["program"]), (["mv", "../a", "b"], "/usr/bin/mv"), programs[2])
    expect(programs[2]["directory"] == programs[1]["directory"] + "/d" and programs[2]["parent"] == programs[0]["pid"], programs)
    home = programs[0]["directory"]
    files = [(record["act"], record["path"], record.get("to", "")) for record in of(node, sandbox, "file_touched")]
    for wanted in (("write", f"{home}/a", ""), ("mkdir", f"{home}/d", ""), ("unlinkat", f"{home}/d/b", ""), ("write", f"{home}/d/.env", ""),
                   ("read", f"{home}/d/.env", "")):
        expect(wanted in files, wanted, "is not in", files)
    expect(any(act.startswith("rename") and path == f"{home}/d/../a" and to == "b" for act, path, to in files), files)
    expect(not any(path.startswith("/dev/") for _, path, _ in files), "devices are no files", files)
    connect, = of(node, sandbox, "connect_tried")
    equal((connect["address"], connect["port"], connect["error"]), ("127.0.0.1", 9, "ECONNREFUSED"))
    begun, = of(node, sandbox, "sandbox_started")
    equal(begun["reported"], ["connects", "exec", "refused", "sensitive", "writes"])
    equal(of(node, sandbox)[-1]["event"], "sandbox_ended", "all of it before the end")
    # The counter-arm: whose policy asks for nothing is not told of, but for what is refused.
    with node.client() as client:
        quiet = run(client, "echo 1 >a; mkdir d; cat a")["id"]
    equal([record["event"] for record in of(node, quiet)], ["policy_accepted", "sandbox_started", "sandbox_ended"])
    equal(of(node, quiet, "sandbox_started")[0]["reported"], ["refused"])


def classes_are_apart(node):
    """Each class by itself."""
    script = "echo 1 >.env; cat .env >/dev/null; (echo >/dev/tcp/127.0.0.1/9); true"
    with node.client() as client:
        for name, wanted in (("exec", {"program_started"}), ("writes", {"file_touched"}), ("connects", {"connect_tried"}), ("sensitive", {"file_touched"})):
            records = of(node, run(client, script, {"monitor": {"record": [name]}}, "bash")["id"])
            kinds = {record["event"] for record in records} - {"policy_accepted", "sandbox_started", "sandbox_ended"}
            equal(kinds, wanted, name)
            acts = {record["act"] for record in records if record["event"] == "file_touched"}
            equal(acts, {"writes": {"write"}, "sensitive": {"read"}}.get(name, set()), name)


def refused_calls(node):
    """A call that the filter refuses is told once, with how often, to the caller too; an error that is the workload's own is not."""
    with node.client() as client:
        said = run(client, "unshare -m true; unshare -m true; chroot / true; true")
        found = {denial["tried"]: denial for denial in said["denials"]}
        expect({"unshare by unshare", "chroot by chroot"} <= set(found), said)
        equal((found["unshare by unshare"]["code"], found["unshare by unshare"]["count"]), ("CORDON-SYSCALL", 2))
        expect("strict" in found["chroot by chroot"]["why"] and "EPERM" in found["chroot by chroot"]["why"], found)
        equal(len(of(node, said["id"], "act_refused")), sum(denial["count"] for denial in said["denials"]))
        plain = run(client, "cat nothing; mkdir /etc; kill -0 99999; ls /root/x; unshare --nothing; mkdir a; mkdir a; echo >a; rm a; cat a; chmod 000 a; ls a; "
                            "echo >a/b; ln -s a b; ln -s a b; mv none else; rm /tmp/none; cat /etc/none; ./none; cd a; cat /proc/1/environ; true")
        equal(plain["denials"], [], plain)
        equal(of(node, plain["id"], "act_refused"), [])
        living = made(client)
        started(client, living, "unshare", "-m", "true")
        told, = until(node, living, "act_refused", lambda record: record["code"] == "CORDON-SYSCALL")
        equal(told["tried"], "unshare by unshare")


def refused_files(node):
    """What mounts and Landlock refuse is told once for each path, with its rule, after a death too; what modes and names refuse is not."""
    script = "echo >/etc/x; echo >/etc/x; mkdir /usr/d; rm /usr/bin/env; mv a /usr/a; chmod 777 /etc; echo >a; mv a /usr/a; true"
    with node.client() as client:
        said = run(client, script)
        found = {denial["tried"]: denial for denial in said["denials"]}
        equal(set(found), {"write /etc/x", "write /usr/d", "write /usr/bin/env", "write /etc", "write /usr/a"}, said)
        equal({(denial["code"], denial["count"]) for name, denial in found.items() if name != "write /usr/a"}, {("CORDON-FS-WRITE", 2), ("CORDON-FS-WRITE", 1)})
        expect("never writable" in found["write /etc/x"]["why"], found)
        living = made(client)
    node.end(node.node, signal.SIGKILL)
    node.start_node()
    with node.client() as client:
        started(client, living, "sh", "-c", "echo >/usr/y")
        told, = until(node, living, "act_refused", lambda record: record["code"] == "CORDON-FS-WRITE")
        equal((told["tried"], told["rule"]), ("write /usr/y", "default"))


def other_processes_are_not_seen(node):
    """Only groups of sandboxes are watched: neither what the node does nor what this test does is told."""
    with node.client() as client:
        sandbox = made(client, {"policy": ALL})
        other = made(client, {"policy": ALL})
        os.mkdir(node.base / "of-the-test")
        started(client, other, "mkdir", "of-the-other")
        until(node, other, "file_touched", lambda record: record["path"].endswith("of-the-other"))
        equal(of(node, sandbox, "file_touched", "program_started"), [])
        everything = [json.loads(line) for line in node.audit_lines()]
        expect(not any("of-the-test" in record.get("path", "") for record in everything), everything)


def seen_through_deaths(node):
    """What happens while the node is dead is recorded by the next one; the next launcher has the program too."""
    with node.client() as client:
        sandbox = made(client, {"policy": ALL})
        started(client, sandbox, "sh", "-c", "n=0; while true; do n=$((n+1)); echo >file-$n; sleep 0.05; done")
        until(node, sandbox, "file_touched", lambda record: record["path"].endswith("/file-2"))
    node.node.send_signal(signal.SIGKILL)
    node.node.wait()
    time.sleep(0.5)
    node.start_node()
    until(node, sandbox, "file_touched", lambda record: record["path"].endswith("/file-20"), 20)
    node.launcher.send_signal(signal.SIGKILL)
    node.launcher.wait()
    time.sleep(0.2)
    node.start_launcher()
    time.sleep(0.5)
    last = max(number_of(record) for record in of(node, sandbox, "file_touched"))
    until(node, sandbox, "file_touched", lambda record: number_of(record) > last + 5, 20)
    node.node.send_signal(signal.SIGKILL)     # the next one finds its sandbox by what the launcher was given
    node.node.wait()
    node.start_node()
    last = max(number_of(record) for record in of(node, sandbox, "file_touched"))
    until(node, sandbox, "file_touched", lambda record: number_of(record) > last + 5, 20)
    numbers = [number_of(record) for record in of(node, sandbox, "file_touched")]
    equal(numbers, list(range(1, len(numbers) + 1)), "none is missing, none is there twice")
    with node.client() as client:     # and what is new is watched, too
        equal(client.ask("DELETE", f"/v1/sandboxes/{sandbox}").status, 200)
        expect(of(node, run(client, "true", ALL)["id"], "program_started"), "after both deaths")
    equal(of(node, sandbox, "records_lost"), [])


def number_of(record):
    return int(record["path"].rpartition("-")[2])


def a_flood_is_bounded(node):
    """Of one that does too much the rest is counted, by second; of another nothing is lost."""
    with node.client() as client:
        quiet = made(client, {"policy": ALL})
        calm = started(client, quiet, "sh", "-c", "n=0; while [ $n -lt 20 ]; do n=$((n+1)); echo >file-$n; sleep 0.1; done")
        said = run(client, "n=0; while [ $n -lt 3000 ]; do n=$((n+1)); echo >f; done", ALL)
        written = of(node, said["id"], "file_touched")
        lost = sum(record["count"] for record in of(node, said["id"], "records_lost"))
        equal(len(written) + lost, 3000, "all of it, written or counted")
        expect(lost > 1000, lost, "a flood that was none")
        until(node, quiet, "file_touched", lambda record: record["path"].endswith("/file-20"), 20)
        equal([number_of(record) for record in of(node, quiet, "file_touched")], list(range(1, 21)))
        equal(of(node, quiet, "records_lost"), [], calm)
    return f"{len(written)} written, {lost} counted"


def nothing_without_a_recorder(node):
    """The counter-arm: where the floor wants no monitor nothing is seen, and the enforcement says so."""
    equal(node.end(node.node), 0)
    node.end(node.launcher)
    node.floor.write_text(node.floor.read_text() + "monitor = false\n")
    node.start_launcher()
    node.start_node()
    with node.client() as client:
        said = run(client, "unshare -m true; echo >f; true")
        answer = client.ask("POST", "/v1/run", {"command": ["true"], "policy": ALL})
    equal(said.get("denials", []), [])
    events = [record["event"] for record in of(node, said["id"])]
    equal(events, ["policy_accepted", "sandbox_started", "sandbox_ended"])
    begun, = of(node, said["id"], "sandbox_started")
    expect("reported" not in begun and not any(row["name"] == "monitor" for row in begun["mechanisms"]), begun)
    equal(answer.status, 503, "a record that cannot be kept is not promised")
    denial, = answer.json["denials"]
    expect(denial["tried"] == "monitor.record" and "seen by nobody" in denial["why"], denial)


SETTINGS["a_flood_is_bounded"] = "[audit]\nevents_per_second = 500\n"
CHECKS = {check.__name__: check for check in (what_happens_inside, classes_are_apart, refused_calls, refused_files, other_processes_are_not_seen, seen_through_deaths,
                                               a_flood_is_bounded, nothing_without_a_recorder)}

if __name__ == "__main__":
    sys.exit(main(CHECKS, lambda programs, **how: Daemon(programs, tools=TOOLS, **how)))
