# SPDX-License-Identifier: Apache-2.0
"""The microVM tier: what runs in it, how weak its parts are on the host, what is left when one of them dies. 77: no QEMU, or no kernel for it."""
import glob
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
for beside in ("callers", "mutation", "../bench/harness"):
    sys.path.insert(0, str(HERE.parent / beside))

from caller import survivors  # noqa: E402
from check import Skip, equal, expect, main  # noqa: E402
from initramfs import with_init  # noqa: E402
from mark import place_of, written  # noqa: E402
from parts import apart, descriptors, parts, started, status  # noqa: E402
from told import records, told_alike  # noqa: E402

QEMU = os.environ.get("CORDON_QEMU", "/usr/bin/qemu-system-x86_64")
PARTS = ("cordon-relay", "cordon-files", "qemu-system-x86_64")


def machine(caller):
    if not os.path.exists(QEMU) or not glob.glob("/boot/vmlinuz-*"):
        raise Skip("no QEMU, or no kernel for it")
    caller.isolation = "microvm"
    return caller


def runs(caller):
    """The programs that an agent needs."""
    machine(caller)
    (caller.workspace / "a.c").write_text('#include <stdio.h>\nint main(void) { puts("compiled"); return 0; }\n')
    script = ("python3 -c \"import json, ssl; print('python')\" && git init -q r && cd r && git config user.email a@b && git config user.name n && "
              "echo x > f && git add f && git commit -qm one && git log --format=%s && cd .. && gcc -o a a.c && ./a && uname -r && ls -l a.c && exit 7")
    ended = caller.run([], ["sh", "-c", script], timeout=300)
    lines = ended.out.decode().splitlines()
    equal((ended.code, lines[:3]), (7, ["python", "one", "compiled"]), ended.err)
    expect(lines[3] != os.uname().release, "the host's own kernel", lines)
    expect("a.c" in lines[4], lines)
    said = {each["name"]: each for each in ended.report["enforcement"]["mechanisms"]}
    expect(said["isolation"]["detail"].startswith("microvm: a machine of its own"), said["isolation"])
    caller.isolation = "process"
    equal(caller.run([], ["uname", "-r"]).out.strip(), os.uname().release.encode(), "the counter-arm")


def files(caller):
    """What is written arrives with its owner; what the host changes is seen; nothing else can be written; the disk has its size."""
    machine(caller)
    (caller.workspace / "before").write_text("1")
    (caller.workspace / ".env").write_text("KEY=secret")
    script = ("echo new > made; mkdir d; ln -s made l; ln made m; mv made d/moved; echo 2 > before; echo 2 > /usr/x; cat before; cat .env; "
              "head -c 8388608 /dev/zero > /tmp/big; mknod n c 1 3; mkfifo p; stat -c '%h %s' d/moved; rm m; date +%s; echo up; read x; cat later")
    child, report = caller.start(["--protect", "before", "--hide", ".env", "--disk", "4M"], ["sh", "-c", script], stdin=subprocess.PIPE)
    lines = [child.stdout.readline() for _ in range(3)]
    equal((lines[0].decode(), lines[2]), ("12 4\n", b"up\n"))
    expect(abs(int(lines[1]) - time.time()) < 5, "the clock", lines)
    made = caller.workspace / "d/moved"
    equal((made.read_text(), made.stat().st_uid, made.stat().st_gid, os.readlink(caller.workspace / "l")), ("new\n", caller.uid, caller.uid, "made"))
    expect(not pathlib.Path("/usr/x").exists(), "/usr was written")
    (caller.workspace / "later").write_text("seen")
    ended = caller.finish(child, report, 60, time.monotonic(), b"\n")
    expect(ended.out.endswith(b"seen"), ended.out)
    for words in (b"No space left", b"cannot create before", b"cannot create /usr/x", b"n: Operation not permitted"):
        expect(words in ended.err, words, ended.err)
    expect(b"secret" not in ended.out, ended.out)


def weakness(caller):
    """C297: what each part could do to the host, were it taken over."""
    machine(caller)
    child, report, found = started(caller, PARTS)
    try:
        apart(caller, found)
        for name, pid in found.items():
            for thread in os.listdir(f"/proc/{pid}/task"):
                facts = status(f"{pid}/task/{thread}")
                equal((facts["Seccomp"], facts["CapEff"], facts["CapPrm"]), ("2", "0" * 16, "0" * 16), name, thread)
        qemu = found["qemu-system-x86_64"]
        # Its own program, libraries and firmware, and nothing of the sandbox's tree nor of the host's people.
        root = pathlib.Path(f"/proc/{qemu}/root")
        equal(sorted(os.listdir(root)), ["dev", "lib", "lib64", "proc", "tmp", "usr"])
        equal((sorted(os.listdir(root / "usr/bin")), sorted(os.listdir(root / "dev"))), (["qemu-system-x86_64"], ["null"]))
        for line in pathlib.Path(f"/proc/{qemu}/mounts").read_text().splitlines():
            where, options = line.split()[1], line.split()[3].split(",")
            expect(where in ("/", "/proc") or "ro" in options, line)
        own = set(descriptors(qemu)) - {"anon_inode", "socket", "pipe", "/dev/null"}
        expect({name.rsplit("/", 1)[-1] for name in own} <= {"vmlinux", "initramfs", "memfd", "tun"}, own)
        # Who serves files sees the sandbox's tree, as the workload, and no machine.
        expect("qemu-system-x86_64" not in os.listdir(f"/proc/{found['cordon-files']}/root"), "the server's root")
        if caller.name == "root":
            expect(status(qemu)["Uid"] != status(found["cordon-files"])["Uid"], "one id for both")
        for kind in ("mnt",):
            expect(os.readlink(f"/proc/{qemu}/ns/{kind}") != os.readlink(f"/proc/{found['cordon-files']}/ns/{kind}"), kind)
    finally:
        child.kill()
        child.communicate()
    equal(survivors(5), [])


def planted(caller):
    """C298: names that are made for a machine lead nowhere, whoever put a link there before."""
    machine(caller)
    place = caller.directory("planted")
    canary = caller.home / "canary"
    canary.write_text("mine")
    os.chmod(canary, 0o640)
    names = ["vmlinux", "initramfs", *(f"{part}-tcg-256{tail}" for part in ("memory", "state", "origin") for tail in ("", ".part"))]
    for number, name in enumerate(names):
        (place / name).symlink_to(canary) if number % 2 else os.link(canary, place / name)
    subprocess.run([*caller.become(), caller.programs / "cordon", "machine", "build", "--into", place], check=True, capture_output=True)
    ended = caller.run([], ["echo", "ran"], env={**caller.environment(), "CORDON_MACHINE": str(place)}, timeout=120)
    equal((ended.code, ended.out), (0, b"ran\n"), ended.err)
    equal((canary.read_text(), canary.stat().st_mode & 0o777), ("mine", 0o640))
    expect(not (place / "vmlinux").is_symlink() and (place / "vmlinux").stat().st_size > 1 << 20, "the kernel")


def services(caller):
    """C301: what a machine can speak to is two ports, which are its own pid 1's, and no device else; of neighbours there is nothing."""
    machine(caller)
    look = ("ls /dev; ls /sys 2>&1; ls /proc/scsi /proc/bus 2>&1; cat /proc/ioports | head -3; for f in /dev/vsock /dev/vport* /dev/mem /dev/port /dev/fuse /dev/hwrng; do "
            "(exec 3<>$f) 2>/dev/null && echo opened $f; done; python3 -c \"import socket; socket.socket(40, socket.SOCK_STREAM)\" 2>&1 | tail -n 1; echo up; sleep 1000")
    child, report = caller.start([], ["sh", "-c", look])
    try:
        said = []
        while not said or said[-1] != "up":
            said.append(child.stdout.readline().decode().strip())
            expect(said[-1] or len(said) < 100, said)
        expect(not [line for line in said if line.startswith("opened")], said)
        expect(not [line for line in said if line.startswith(("vport", "vsock", "mem", "port", "fuse", "kvm", "sd", "vd"))], said)
        expect("Address family not supported" in said[-2], said)
        words = pathlib.Path(f"/proc/{parts(child, PARTS)[PARTS[-1]]}/cmdline").read_bytes().decode().split("\0")
        devices = sorted(words[at + 1].split(",")[0] for at, word in enumerate(words[:-1]) if word == "-device")
        expect(set(devices) <= {"virtio-serial-device", "virtserialport", "virtio-net-device"} and devices.count("virtserialport") == 2, devices)
        expect("-nodefaults" in words and "-no-user-config" in words, words)
    finally:
        child.kill()
        child.communicate()


def torments(caller):
    """C299: a machine whose kernel is taken over and speaks to its devices as no driver would: they refuse, in words; the trial of such a machine
    ends, nothing weaker runs in its place, nothing is left, and a neighbour has noticed nothing."""
    machine(caller)
    hostile = caller.programs.parent / "tests/tiers/hostile_guest"
    if not hostile.exists():
        raise Skip("hostile_guest is not built")
    place = caller.directory("hostile")
    subprocess.run([*caller.become(), caller.programs / "cordon", "machine", "build", "--into", place], check=True, capture_output=True)
    (place / "initramfs").write_bytes(with_init((place / "initramfs").read_bytes(), hostile.read_bytes()))
    neighbour, told = caller.start([], ["sh", "-c", "echo up; read x; echo still here"], stdin=subprocess.PIPE)
    equal(neighbour.stdout.readline(), b"up\n")
    ended = caller.run([], ["echo", "ran"], env={**caller.environment(), "CORDON_MACHINE": str(place)}, timeout=200)
    equal((ended.out, ended.code), (b"", 126), ended.err)
    expect(b"no machine starts" in ended.err, ended.err)
    expect(re.search(rb"Guest says index|bogus descriptor|Invalid size for indirect|Virtqueue size exceeded", ended.err), "no device said a word:", ended.err)
    equal(caller.finish(neighbour, told, 60, time.monotonic(), b"\n").out, b"still here\n")
    equal(survivors(5), [])


def deaths(caller):
    """Each part is killed; the run ends with a verdict, and nothing is left."""
    machine(caller)
    for name in PARTS:
        child, report, found = started(caller, PARTS)
        os.kill(found[name], signal.SIGKILL)
        ended = caller.finish(child, report, 20, time.monotonic())
        expect(ended.code in (125, 128 + 15, 130, 137), name, ended.code, ended.err)
        expect(ended.verdict.get("ending") in ("infrastructure", "killed"), name, ended.verdict)
        equal(survivors(5), [], name)


def pss(pid):
    """Bytes of memory that are its own, and its share of what it has with others."""
    lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("Pss:"))) * 1024


def clones(caller):
    """C237: machines that began as the same one draw other random numbers, lay programs out otherwise, have the time, and share what none of them
    has written; what they began as stays as it was."""
    machine(caller)
    caller.run([], ["true"], timeout=120)
    kept = caller.home / ".local/share/cordon/machine"
    before = {path.name: path.stat().st_mtime_ns for path in kept.iterdir()}
    expect(any(name.startswith("memory-") for name in before), "nothing was kept to begin with", before)
    script = ("od -An -tx8 -N32 /dev/urandom | tr -d ' \\n'; echo; cat /proc/sys/kernel/random/boot_id; date +%s; grep stack /proc/self/maps; "
              "echo up; sleep 1000")
    begun = [caller.start([], ["sh", "-c", script]) for _ in range(6)]
    try:
        said = [[child.stdout.readline().decode().strip() for _ in range(5)] for child, _ in begun]
        equal([lines[4] for lines in said], ["up"] * 6, said)
        for drawn in (0, 1, 3):
            equal(len({lines[drawn] for lines in said}), 6, "two machines have drawn the same", said)
        for lines in said:
            expect(abs(int(lines[2]) - time.time()) < 30, "the clock", said)
        sizes = [pss(parts(child, PARTS)["qemu-system-x86_64"]) for child, _ in begun]
        expect(sum(sizes) / 6 < 100e6, "memory of each", sizes)
    finally:
        for child, _ in begun:
            child.kill()
            child.communicate()
    equal(survivors(5), [])
    equal({path.name: path.stat().st_mtime_ns for path in kept.iterdir()}, before)


def fenced(caller):
    """A machine that begins as a saved one has its plan's own fences on: those that it was saved behind, with the plan's limits, or others."""
    machine(caller)
    caller.run([], ["true"], timeout=120)
    expect(any((caller.home / ".local/share/cordon/machine").glob("memory-*")), "nothing was kept to begin with")
    script = "nice -n 19 nice; ulimit -n; grep -cE '^(Seccomp_filters:\t1|NoNewPrivs:\t1|CapEff:\t0+)$' /proc/self/status; id -u"
    policy = caller.home / "fenced.toml"
    for profile, nice in (("strict", "10"), ("compat", "19")):
        policy.write_text(f'[syscalls]\nprofile = "{profile}"\n[resources]\nopen_files = 77\n')
        ended = caller.run(["--policy", str(policy)], ["sh", "-c", script], timeout=120)
        equal(ended.out.decode().split(), [nice, "77", "3", str(caller.uid or 1000)], (profile, ended.err))
        equal(b"cannot set niceness" in ended.err, profile == "strict", ended.err)


def names_drawn(caller, mutant):
    """The names of three machines that begin as the same one, kept by a run before them; their pid 1 draws the name."""
    image = (caller.programs.parent / "mutation/cordon-init-mutant").read_bytes()
    others = caller.directory(mutant)
    for path in caller.programs.glob("cordon*"):
        shutil.copy(path, others / path.name)
    at, chosen = place_of(image), written(f"name-is-drawn|{mutant}")
    (others / "cordon-init").write_bytes(image[:at] + chosen + image[at + len(chosen):])
    whole, caller.programs = caller.programs, others
    caller.run([], ["true"], timeout=120)
    kept = caller.home / ".local/share/cordon/machine"
    expect(any(path.name.startswith("memory-") for path in kept.iterdir()), "nothing was kept to begin with")
    names = [caller.run([], ["uname", "-n"], timeout=120).out.decode().strip() for _ in range(3)]
    caller.programs = whole
    equal({len(each) for each in names}, {32}, names)
    return names


def seeded(caller):
    """Copies of a machine draw other random numbers from the first on; those that take no seed draw the same."""
    machine(caller)
    if not (caller.programs.parent / "mutation").is_dir():
        raise Skip("no mutants were built")
    names = names_drawn(caller, "with-seed")
    equal(len(set(names)), 3, names)
    names = names_drawn(caller, "no-reseed")
    equal(len(set(names)), 1, "the counter-arm: what the seed is for", names)


def limits(caller):
    """Memory is the machine's own: more of it there is not, and no process of the host's ends for it."""
    machine(caller)
    ended = caller.run(["--memory", "192M", "--pids", "40"], ["bash", "-c", "grep MemTotal /proc/meminfo; ulimit -u; python3 -c \"bytearray(300 << 20)\"; echo $?"],
                       timeout=120)
    words = ended.out.decode().split()
    expect(100_000 < int(words[1]) < 192 * 1024, words)
    equal(words[3], "40")
    expect(words[4] != "0", "300 MiB in a machine of 192", words, ended.err)
    ended = caller.run(["--memory", "192M"], ["python3", "-c", "x = []\nwhile True: x.append(bytearray(1 << 20))"], timeout=120)
    equal((ended.report["verdict"]["ending"], ended.report["verdict"]["limit"]), ("memory", 192 << 20), ended.report["verdict"])


def refused(caller):
    """A QEMU that is none, and a kernel that somebody else could have written, are refused; nothing weaker runs."""
    machine(caller)
    ended = caller.run([], ["true"], env={**caller.environment(), "CORDON_QEMU": "/nonexistent"})
    expect(ended.code == 126 and b"/nonexistent" in ended.err, ended.code, ended.err)
    if caller.uid != 0:
        return
    place = caller.home / "machine"
    built = caller.verb("machine", "build", "--into", str(place), "--json")
    equal(json.loads(built.stdout)["directory"], str(place), built)
    environment = {**caller.environment(), "CORDON_MACHINE": str(place)}
    equal(caller.run([], ["true"], env=environment, timeout=120).code, 0, "the counter-arm")
    os.chown(place / "initramfs", 12345, 12345)
    shutil.rmtree(caller.home / ".cache", ignore_errors=True)
    ended = caller.run([], ["true"], env=environment, timeout=120)
    expect(ended.code == 126 and b"somebody but root can write it" in ended.err, ended.code, ended.err)


def told(caller):
    """What programs do is recorded in the same words as behind the weaker wall; and what no other local wall sees: what is only read, for its
    name, and what a filter refuses."""
    told_alike(machine(caller), "microvm")
    policy = caller.home / "told.toml"
    policy.write_text('[monitor]\nrecord = ["sensitive"]\n')
    script = "echo x > .env; cat .env; unshare -U true"
    ended = caller.run(["--policy", str(policy)], ["sh", "-c", script], timeout=120)
    seen = [(record["event"], record.get("path", record.get("tried"))) for record in records(caller, ended.report["id"])]
    equal(seen, [("file_touched", str(caller.workspace / ".env")), ("act_refused", "unshare by unshare")], ended.err)


def doctor(caller):
    machine(caller)
    facts = json.loads(caller.verb("doctor", "--json").stdout)["facts"]["microvm"]
    expect(facts["support"] in ("ok", "limited") and "QEMU" in facts["detail"], facts)


CHECKS = {act.__name__: act for act in (runs, files, weakness, planted, services, torments, deaths, clones, fenced, seeded, limits, refused, told, doctor)}

if __name__ == "__main__":
    main(CHECKS)
