# SPDX-License-Identifier: Apache-2.0
"""The gVisor tier: what runs behind it, how weak its parts are on the host (C292), and what is left when one of them dies (C296)."""
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
sys.path.insert(0, str(HERE.parent / "callers"))

from caller import survivors  # noqa: E402
from check import Skip, equal, expect, main  # noqa: E402
from pace import slow  # noqa: E402
from parts import apart, descriptors, parts, started, status  # noqa: E402
from told import records, told_alike  # noqa: E402

RUNSC = os.environ.get("CORDON_RUNSC", "/usr/bin/runsc")


def version():
    """Of eight digits, as it says itself."""
    return int(re.search(r"\d{8}", subprocess.run([RUNSC, "--version"], capture_output=True, text=True).stdout)[0])


def is_debians():
    """The old one of Debian 12, which runs programs by ptrace."""
    return version() <= 20221219


def gvisor(caller):
    if not os.path.exists(RUNSC):
        raise Skip("no runsc")
    caller.isolation = "gvisor"
    return caller


def runs(caller):
    """The programs that an agent needs."""
    gvisor(caller)
    (caller.workspace / "a.c").write_text('#include <stdio.h>\nint main(void) { puts("compiled"); return 0; }\n')
    for command, words in ((["python3", "-c", "import json, ssl, sqlite3; print('python')"], b"python\n"),
                           (["node", "-e", "console.log('node')"], b"node\n"),
                           (["sh", "-c", "git init -q r && cd r && git config user.email a@b && git config user.name n && echo x > f && "
                             "git add f && git commit -qm one && git log --format=%s"], b"one\n"),
                           (["sh", "-c", "gcc -o a a.c && ./a"], b"compiled\n")):
        if not shutil.which(command[0] if command[0] != "sh" else command[2].split()[0]):
            continue
        ended = caller.run([], command, timeout=90)
        equal((ended.code, ended.out), (0, words), command, ended.err)
    own = {"root": "gvisor: a kernel of its own", "user": "gvisor: a kernel of its own"}
    said = {each["name"]: each for each in ended.report["enforcement"]["mechanisms"]}
    expect(said["isolation"]["detail"].startswith(own[caller.name]), said["isolation"])
    kernel = caller.run([], ["uname", "-r"]).out
    expect(kernel.strip() != os.uname().release.encode(), "the host's own kernel", kernel)
    caller.isolation = "process"
    equal(caller.run([], ["uname", "-r"]).out.strip(), os.uname().release.encode(), "the counter-arm")


def listing(caller):
    """`ls -l` and `stat` tell of files, directories and links, with nothing to complain of; unless the trial has said that they do not."""
    gvisor(caller)
    (caller.workspace / "file").write_text("x" * 7)
    (caller.workspace / "dir").mkdir()
    (caller.workspace / "link").symlink_to("file")
    ended = caller.run([], ["sh", "-c", "ls -l / >/dev/null && ls -l && stat -c '%N %F %s' file link && cp -P link copy && cmp copy file"])
    said = {each["name"]: each for each in ended.report["enforcement"]["mechanisms"]}
    if "statx" in said["isolation"]["detail"]:
        expect(ended.code != 0 and b"Invalid argument" in ended.err, ended.code, ended.err)
        return "does not work, as told"
    equal((ended.code, ended.err), (0, b""), ended.out)
    lines = ended.out.decode().splitlines()
    equal([line[0] for line in lines[1:4]], ["d", "-", "l"], lines)
    expect(lines[3].endswith(" link -> file"), lines)
    equal(lines[4:], ["'file' regular file 7", "'link' -> 'file' symbolic link 4"])
    equal(os.readlink(caller.workspace / "copy"), "file")


def files(caller):
    """What is written arrives with its owner; what the host changes is seen; nothing else can be written."""
    gvisor(caller)
    (caller.workspace / "before").write_text("1")
    ended = caller.run(["--protect", "before"], ["sh", "-c", "echo new > made; mkdir d; ln -s made l; echo 2 > before; echo 2 > /usr/x; cat before"])
    equal(ended.out, b"1")
    made = caller.workspace / "made"
    equal((made.read_text(), made.stat().st_uid, made.stat().st_gid, os.readlink(caller.workspace / "l")),
          ("new\n", caller.uid, caller.uid, "made"))
    expect(not pathlib.Path("/usr/x").exists(), "/usr was written")
    child, report = caller.start([], ["sh", "-c", "echo up; read x; cat later"], stdin=subprocess.PIPE)
    equal(child.stdout.readline(), b"up\n")
    (caller.workspace / "later").write_text("seen")
    equal(caller.finish(child, report, 60, time.monotonic(), b"\n").out, b"seen")


def disk(caller):
    """The own disk has its size, in front of which runsc lays nothing."""
    gvisor(caller)
    for place in ("/tmp", "/dev/shm", "/var/tmp"):
        ended = caller.run(["--disk", "4M"], ["sh", "-c", f"head -c 8388608 /dev/zero > {place}/big"])
        expect(ended.code != 0 and b"No space left" in ended.err, place, ended.code, ended.err)
    equal(caller.run(["--disk", "16M"], ["sh", "-c", "head -c 8388608 /dev/zero > /tmp/big"]).code, 0, "the counter-arm")


def strengthens(caller):
    """A flag never takes a wall away that a file asks for."""
    gvisor(caller)
    (caller.home / "p.toml").write_text('isolation = "gvisor"\n')
    file = str(caller.home / "p.toml")
    caller.isolation = ""
    expect(caller.run(["--policy", file], ["uname", "-r"]).out.strip() != os.uname().release.encode(), "the file's wall")
    weaker = caller.run(["--policy", file, "--isolation", "process"], ["true"])
    equal((weaker.code, weaker.out), (126, b""), weaker.err)
    expect(b"may only strengthen" in weaker.err, weaker.err)
    (caller.home / "p.toml").write_text('isolation = "process"\n')
    equal(caller.run(["--policy", file, "--isolation", "gvisor"], ["true"]).code, 0)


PARTS = ("cordon-relay", "runsc", "runsc-gofer", "runsc-sandbox")


def weakness(caller):
    """C292: what each part could do to the host."""
    gvisor(caller)
    child, report, found = started(caller, PARTS)
    try:
        apart(caller, found)
        for name in ("runsc-gofer", "runsc-sandbox", "cordon-relay"):
            equal(status(found[name])["Seccomp"], "2", name)
        equal(status(found["cordon-relay"])["CapEff"], "0" * 16)
        # CAP_SYS_CHROOT and CAP_SYS_ADMIN; of a newer one without root CAP_SETPCAP too.
        kept = "0000000000240000" if is_debians() else {"root": "0" * 16, "user": "0000000000240100"}[caller.name]
        equal(status(found["runsc-sandbox"])["CapEff"], kept, "of a user namespace of its own")
        mounts = pathlib.Path(f"/proc/{found['runsc-sandbox']}/mounts").read_text().splitlines()
        expect(len(mounts) <= 2, mounts)
        equal(descriptors(found["cordon-relay"]), ["/dev/null", "/dev/null", "/dev/null", "anon_inode", "pipe", "pipe", "pipe", "socket"])
        # What the file server could reach, were it taken over: its own root and the sandbox's tree, where nothing of the host is but what is shown.
        root = pathlib.Path(f"/proc/{found['runsc-gofer']}/root")
        names = {name for name in os.listdir(root)}
        expect(not names & {"boot", "srv", "media", "mnt", "run", "sys"}, names)
    finally:
        child.kill()
        child.communicate()
    equal(survivors(5), [])


# What the kernel in user space asks of the host's for a program that computes, forks, maps, writes files and talks to itself. Nothing
# among them opens a file by its path, makes a socket for a network, starts a program or changes what it may do.
HOST_CALLS = set("""close epoll_ctl epoll_pwait exit fallocate fstat ftruncate futex getpid gettid ioctl lseek madvise mincore mmap mprotect munmap nanosleep ppoll
pread64 preadv2 ptrace pwrite64 pwritev2 read readv recvmsg restart_syscall rt_sigprocmask rt_sigreturn sched_yield sendmsg sigaltstack tgkill wait4 write
writev""".split())
# With systrap: it looks after threads of other processes.
NEWER_CALLS = HOST_CALLS | {"setpriority", "waitid"}
WORK = """
import mmap, os, socket, subprocess, threading
open("/tmp/file", "w").write("x" * 100000)
os.listdir("/")
one, other = socket.socketpair()
one.send(b"x"), other.recv(1)
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname()).send(b"x")
memory = mmap.mmap(-1, 1 << 20)
memory[:] = b"y" * (1 << 20)
threads = [threading.Thread(target=lambda: sum(range(100000))) for _ in range(4)]
[each.start() for each in threads], [each.join() for each in threads]
subprocess.run(["ls", "/"], stdout=subprocess.DEVNULL)
print("done", flush=True)
"""


def calls(caller):
    """C293: what the engine asks of the host while a program works is what it is known to ask."""
    gvisor(caller)
    if caller.name != "root" or not shutil.which("strace"):
        raise Skip("needs root, and strace")
    child, report = caller.start([], ["sh", "-c", f"echo up; read x; python3 -c '{WORK}'; sleep 1000"], stdin=subprocess.PIPE)
    trace = None
    try:
        equal(child.stdout.readline(), b"up\n")
        sentry = parts(child, ("runsc-sandbox",))["runsc-sandbox"]
        threads = os.listdir(f"/proc/{sentry}/task")
        seen = caller.home / "calls"
        trace = subprocess.Popen(["strace", "-qq", "-e", "signal=none", "-o", seen, *(word for each in threads for word in ("-p", each))])
        until = time.monotonic() + slow(10)
        while status(sentry)["TracerPid"] == "0":
            expect(time.monotonic() < until, "it cannot be traced")
            time.sleep(0.05)
        child.stdin.write(b"\n")
        child.stdin.flush()
        equal(child.stdout.readline(), b"done\n")
        trace.terminate()
        trace.wait()
        told = seen.read_text()
        asked = set(re.findall(r"^\d+ +([a-z0-9_]+)\(", told, re.M))
        # A thread of its own is no program.
        if all("CLONE_THREAD" in line for line in told.splitlines() if " clone(" in line):
            asked.discard("clone")
        expect(len(asked) >= 5, "this says nothing", asked)
        known = HOST_CALLS if is_debians() else NEWER_CALLS
        expect(asked <= known, "it asks for more:", sorted(asked - known))
        return f"{len(asked)} calls"
    finally:
        if trace:
            trace.kill()
            trace.wait()
        child.kill()
        child.communicate()


BARRIERS = """
import ctypes
call = ctypes.CDLL(None).syscall
print([call(324, command, 0) for command in (16, 8)], call(324, 0, 0) & 24)
"""


def prompt(caller):
    """What takes it ten milliseconds each time it waits for all processors is spared: no table of descriptors grows while its threads run.
    Its programs have their barriers nevertheless."""
    gvisor(caller)
    child, _, found = started(caller, PARTS)
    try:
        wide = {name: int(status(pid)["FDSize"]) > 300 for name, pid in found.items()}
        equal(wide, {name: name != "cordon-relay" for name in PARTS})   # which has no need of it: the counter-arm
    finally:
        child.kill()
        child.communicate()
    here = subprocess.run([sys.executable, "-c", BARRIERS], capture_output=True).stdout
    equal(caller.run([], ["python3", "-c", BARRIERS]).out, here)
    equal(here, b"[0, 0] 24\n")


def stream(caller):
    """What pid 1 is told and what it tells is nobody else's, also where all have its id and its kernel shows its descriptors."""
    gvisor(caller)
    pry = "import os\nfor n in os.listdir('/proc/1/fd'):\n  for how in (os.O_RDONLY, os.O_WRONLY):\n    try:\n" \
          "      where = os.readlink(f'/proc/1/fd/{n}')\n      os.open(f'/proc/1/fd/{n}', how | os.O_NONBLOCK)\n" \
          "      print('opened' if where.startswith('host:') else 'other', where)\n" \
          "    except OSError as error:\n      print(where.split(':')[0], error.errno)"
    said = caller.run([], ["python3", "-c", pry]).out.decode().splitlines()
    equal(said.count("host 13"), 4, said)
    expect(not [line for line in said if line.startswith("opened")], said)


def full(caller):
    """At its memory limit it is its kernel that is ended, not a process in which that runs programs: it would wait for that one for ever."""
    gvisor(caller)
    if caller.name != "root":
        raise Skip("limits of memory are held by control groups, which only root has here")
    fill = "import mmap\nheld = []\nwhile True:\n  held.append(mmap.mmap(-1, 1 << 20))\n  for at in range(0, 1 << 20, 4096): held[-1][at] = 1"
    begin = time.monotonic()
    ended = caller.run(["--memory", "64M", "--time", f"{slow(20)}s"], ["python3", "-c", fill])
    equal(ended.verdict["ending"], "memory", ended.verdict, ended.err)
    return f"{time.monotonic() - begin:.1f} s"


def deaths(caller):
    """C296: each part is killed; the run ends with a verdict, and nothing is left."""
    gvisor(caller)
    for name in PARTS:
        child, report, found = started(caller, PARTS)
        os.kill(found[name], signal.SIGKILL)
        if name == "runsc-gofer":          # its kernel goes on without files, until somebody ends it
            time.sleep(0.2)
            child.send_signal(signal.SIGTERM)
        ended = caller.finish(child, report, 20, time.monotonic())
        expect(ended.code in (125, 128 + 15, 130, 137), name, ended.code, ended.err)
        expect(ended.verdict.get("ending") in ("infrastructure", "killed"), name, ended.verdict)
        equal(survivors(5), [], name)


def refused(caller):
    """A runsc that is none, and one that somebody else could have written, are refused; nothing weaker runs."""
    gvisor(caller)
    ended = caller.run([], ["true"], env={**caller.environment(), "CORDON_RUNSC": "/nonexistent"})
    expect(ended.code == 126 and b"no /nonexistent" in ended.err, ended.code, ended.err)
    other = caller.home / "runsc"
    shutil.copy(RUNSC, other)
    other.chmod(0o755)
    os.chown(other, 12345 if caller.uid == 0 else caller.uid, 12345 if caller.uid == 0 else caller.uid)
    ended = caller.run([], ["true"], env={**caller.environment(), "CORDON_RUNSC": str(other)})
    if caller.uid == 0:
        expect(ended.code == 126 and b"somebody but root can write it" in ended.err, ended.code, ended.err)
        os.chown(other, 0, 0)
        ended = caller.run([], ["true"], env={**caller.environment(), "CORDON_RUNSC": str(other)})
    equal(ended.code, 0, "the counter-arm", ended.err)


def doctor(caller):
    gvisor(caller)
    facts = json.loads(caller.verb("doctor", "--json").stdout)["facts"]["gvisor"]
    expect(facts["support"] in ("ok", "limited"), facts)
    expect(f"runsc {version()}, " in facts["detail"], "another than was named", facts)
    expect("ptrace" in facts["detail"] or "systrap" in facts["detail"], facts)


def told(caller):
    """What programs do is recorded in the same words as behind the weaker wall, where a policy asks for it, and nowhere else."""
    told_alike(gvisor(caller), "gvisor")


def unnamed(caller):
    """Nobody hides behind a name that its kernel cannot tell: what is not told is counted."""
    gvisor(caller)
    policy = caller.home / "told.toml"
    policy.write_text('[monitor]\nrecord = ["exec", "writes"]\n')
    acts = r"""
import ctypes, os
os.close(os.open(b"/tmp/\xff", os.O_CREAT | os.O_WRONLY))
os.spawnv(os.P_WAIT, "/bin/true", [b"true", b"\xff"])
ctypes.CDLL(None).prctl(15, b"\xff")
os.close(os.open("/tmp/by-a-strange-name", os.O_CREAT | os.O_WRONLY))
"""
    ended = caller.run(["--policy", str(policy)], ["python3", "-c", acts])
    equal(ended.code, 0, ended.err)
    seen = records(caller, ended.report["id"])
    equal([record["path"] for record in seen if record["event"] == "file_touched"], ["/tmp/by-a-strange-name"], seen)
    equal([(record["source"], record["count"]) for record in seen if record["event"] == "records_lost"], [("monitor", 2)], seen)
    ended = caller.run(["--policy", str(policy)], ["python3", "-c", acts.replace(r"\xff", "plain")])
    seen = records(caller, ended.report["id"])
    equal([record for record in seen if record["event"] == "records_lost"], [], "the counter-arm")


def untold(caller):
    """A runsc that knows no trace sessions runs what asks for no records, and nothing else."""
    gvisor(caller)
    other = caller.home / "runsc"
    other.write_bytes(pathlib.Path(RUNSC).read_bytes().replace(b"pod-init-config", b"pod-init-nothing"[:15]))
    other.chmod(0o755)
    env = {**caller.environment(), "CORDON_RUNSC": str(other)}
    policy = caller.home / "told.toml"
    policy.write_text('[monitor]\nrecord = ["exec"]\n')
    ended = caller.run(["--policy", str(policy)], ["true"], env=env)
    expect(ended.code == 126 and b"one that has no trace sessions" in ended.err, ended.code, ended.err)
    ended = caller.run([], ["true"], env=env)
    equal(ended.code, 0, ended.err)
    said = {each["name"]: each for each in ended.report["enforcement"]["mechanisms"]}
    expect("no trace sessions" in said["isolation"]["detail"], said["isolation"])


def together(caller):
    """Some at once, each with its own."""
    gvisor(caller)
    children = [caller.start([], ["sh", "-c", f"echo {number}; cat /proc/sys/kernel/hostname"]) for number in range(6)]
    for number, (child, report) in enumerate(children):
        equal(caller.finish(child, report, slow(60), time.monotonic()).out, f"{number}\ncordon\n".encode())


CHECKS = {act.__name__: act for act in (runs, listing, files, disk, strengthens, weakness, calls, prompt, stream, full, deaths, refused, doctor, told, unnamed, untold, together)}

if __name__ == "__main__":
    main(CHECKS)
