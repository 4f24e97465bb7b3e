#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From `strict` to a policy under which a workload passes, by `cordon suggest` alone: run, suggest, run again, three runs at most.

    learn.py PROGRAMS [--as root|user]... [NAME...]

The workloads are real ones, on the host of the test internet: npm, pip, git and a build, a scripted session of a coding agent, a tool server of
the MCP SDK over its standard streams. What they reach is in the namespaces of that internet. Exit: 0 all passed; 1 otherwise; 77 where it cannot run."""
import argparse
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile

sys.dont_write_bytecode = True     # the sources may lie where nothing is to be left behind
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "egress"))

import content  # noqa: E402
from arms import Traveller  # noqa: E402
from checks import Skip, equal, expect, judged  # noqa: E402
from clients import TRUST  # noqa: E402
from internet import Internet  # noqa: E402

NEEDED = ("nginx", "nft", "ip", "nsenter", "unshare", "openssl", "redis-server", "git", "curl", "dpkg-deb", "make", "node", "npm")
MOST_RUNS = 3
MARK = content.MARK.strip()

NPM = {"package.json": json.dumps({"name": "shop", "version": "1.0.0", "dependencies": {"cordon-demo": "1.0.0"},
                                   "scripts": {"test": "node test.js"}}),
       "test.js": "const assert = require('assert'); assert(require('cordon-demo').startsWith('hello')); console.log(require('cordon-demo'));\n"}
NPM_SCRIPT = "npm install --no-audit --no-fund --fetch-retries=0 --registry https://registry.example.com/ >&2 && npm test"

PIP_SCRIPT = ("/usr/bin/python3 -m pip install --disable-pip-version-check --no-cache-dir --retries 0 -q --target lib "
              "-i https://pypi.example.com/simple cordon-demo && PYTHONPATH=lib /usr/bin/python3 -c 'import cordon_demo; print(cordon_demo.MARK)'")

BUILD = {"main.c": '#include <stdio.h>\nint main(void) { FILE* f = fopen("README", "r"); char line[99]; puts(fgets(line, 99, f)); return 0; }\n',
         "Makefile": "all: main\n\t./main\nmain: main.c\n\t$(CC) -o main main.c\n"}
GIT_SCRIPT = "git clone -q --branch built https://git.example.com/demo.git cloned && make -s -C cloned CC={compiler}"

# What an agent does: it edits, builds, tests, commits, fetches, and tries what it should not.
AGENT = {"agent.sh": """
set -u
failed=0
step() { "$@" || { echo "failed: $*" >&2; failed=1; }; }
sed -i 's/return 1/return 2/' shop.py
step /usr/bin/python3 -m py_compile shop.py
step /usr/bin/python3 -m unittest -q test_shop
step git init -q .
step git -c user.name=agent -c user.email=agent@example.com add shop.py test_shop.py
step git -c user.name=agent -c user.email=agent@example.com commit -qm Fix
step git fetch -q https://git.example.com/demo.git main
step curl -sS -m 8 https://api.example.com/hello
curl -sS -m 8 https://a1b2.ngrok.app/ >/dev/null 2>&1
exit $failed
""", "shop.py": "def price():\n    return 1\n",
         "test_shop.py": "import unittest, shop\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(shop.price(), 2)\n"}

# A tool server of the MCP SDK over its standard streams, with one tool that fetches.
SDK = HERE.parent / "sdk"
CALLS = [{"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
         {"method": "notifications/initialized"}, {"id": 2, "method": "tools/list"},
         {"id": 3, "method": "tools/call", "params": {"name": "fetch", "arguments": {"url": "https://api.example.com/hello"}}}]


class Workload:
    def __init__(self, files, script, hosts, never=(), stdin=None, passed=None, tree=None):
        self.files, self.script, self.hosts, self.never, self.stdin, self.tree = files, script, hosts, never, stdin, tree
        self.passed = passed or (lambda ended: ended.code == 0 and MARK in ended.out.decode(errors="replace"))


def tool_answered(ended):
    """The server itself ends well whatever its tools meet: what they answered counts."""
    answers = {each["id"]: each["result"] for each in map(json.loads, ended.out.splitlines())}
    return ended.code == 0 and not answers[3].get("isError") and MARK in answers[3]["content"][0]["text"]


def compiler():
    found = next((name for name in ("cc", "gcc", "clang-19") if shutil.which(name, path="/usr/bin:/bin")), None)
    if found is None:
        raise Skip("no C compiler")
    return found


def workloads():
    """By name. Hosts: what each needs, and so what must not be refused by the policy that is learnt."""
    calls = "".join(json.dumps({"jsonrpc": "2.0", **call}) + "\n" for call in CALLS).encode()
    return {
        "npm": Workload(NPM, NPM_SCRIPT, ["registry.example.com"]),
        "pip": Workload({}, PIP_SCRIPT, ["pypi.example.com"]),
        "git_build": Workload({}, GIT_SCRIPT.format(compiler=compiler()), ["git.example.com"]),
        "agent": Workload(AGENT, "sh agent.sh", ["git.example.com", "api.example.com"], never=["a1b2.ngrok.app:443"]),
        "mcp_server": Workload({}, "node tool_server.mjs", ["api.example.com"], stdin=calls, passed=tool_answered, tree=SDK),
    }


def furnish(internet):
    """A branch of the internet's repository that has something to build."""
    tree = internet.base / "built"
    who = ["-c", "user.name=tester", "-c", "user.email=tester@example.com", "-C", tree]
    content.quietly("git", "clone", "-q", internet.repository, tree)
    content.quietly("git", *who, "checkout", "-q", "-b", "built")
    for name, text in BUILD.items():
        (tree / name).write_text(text)
    content.quietly("git", *who, "add", ".")
    content.quietly("git", *who, "commit", "-q", "-m", "Build")
    content.quietly("git", *who, "push", "-q", "origin", "built")


def said(caller, *words, code=0):
    done = caller.verb(*words)
    equal(done.returncode, code, *words, done.stdout.decode()[-900:], done.stderr.decode()[-900:])
    return done.stdout.decode()


def learn(caller, workload, run):
    """The policy under which the workload passes, and the ids of the runs that failed before."""
    file = caller.home / f"learnt{next(caller.numbers)}.toml"
    failed = []
    for _ in range(MOST_RUNS):
        ended = run(["--policy", str(file)] if file.exists() else ["--preset", "strict"])
        if workload.passed(ended):
            return file, failed
        failed.append(ended.report["id"])
        base = [] if file.exists() else ["--policy", "strict"]
        told = said(caller, "suggest", failed[-1], *base, "--write", str(file), "--yes")
        expect("  + " in told, f"run {len(failed)}: nothing is suggested:", told, ended.err.decode()[-900:])
        said(caller, "policy", "check", str(file))
    raise AssertionError(f"no policy after {MOST_RUNS} runs: {file.read_text()}\n{ended.out[-500:]}\n{ended.err.decode()[-1500:]}")


def passes(name):
    def check(caller):
        workload = workloads()[name]
        for path, text in workload.files.items():
            caller.give(path, text)
        if workload.tree:
            if not (workload.tree / "node_modules").exists():
                raise Skip(f"no packages in {workload.tree.name}: ./dev setup")
            shutil.copytree(workload.tree, caller.workspace, symlinks=True, dirs_exist_ok=True)
        trust = [word for pair in TRUST.items() for word in ("--env", "=".join(pair))]

        def run(flags):
            return caller.run([*flags, *trust], ["sh", "-c", workload.script], timeout=120, stdin=workload.stdin)
        file, failed = learn(caller, workload, run)
        text = file.read_text()
        expect("*" not in text, "a wildcard:", text)
        for host in workload.never:
            expect(host.split(":")[0] not in text, "what is never suggested:", text)
        if workload.never:
            lines = said(caller, "suggest", failed[-1], "--policy", str(file)).splitlines()
            for host in workload.never:
                expect(any(line.startswith("  ! ") and host in line for line in lines), host, lines)
        # The last run that failed, judged by what was learnt: of what it needs nothing is refused, and what is refused stays so.
        told = json.loads(said(caller, "policy", "replay", str(file), failed[-1], "--json"))
        refused = {act["what"] for act in told["acts"] if act["effect"] != "allow"}
        equal(refused, set(workload.never), "refused still")
        allowed = {act["what"] for act in told["acts"] if act["turn"] == "newly_allowed"}
        equal(allowed, {f"{host}:443" for host in workload.hosts}, "allowed now")
        # And by `strict`, which refuses all of that again.
        strict = caller.home / "strict.toml"
        strict.write_text(said(caller, "policy", "show", "strict"))
        strict.chmod(0o644)
        told = json.loads(said(caller, "policy", "replay", str(strict), failed[-1], "--json"))
        equal(told["newly_allowed"], 0, "by strict")
        return f"{len(failed) + 1} runs"
    return check


def files(caller):
    """A directory beside the workspace that a build writes to."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="cordon-learn-", dir="/srv"))
    try:
        place.chmod(0o755)
        workspace, shared = place / "workspace", place / "shared"
        for each in (workspace, shared):
            each.mkdir()
            os.chown(each, caller.uid, caller.uid)
        workload = Workload({}, "", [], passed=lambda ended: ended.code == 0)

        def run(flags):
            return caller.run([*flags, "--workspace", str(workspace)], ["sh", "-c", f"[ -d {shared} ] || mkdir {shared} && echo built > {shared}/out"])
        first = run(["--preset", "strict"])
        expect(any(each["code"] == "CORDON-FS-WRITE" for each in first.report["denials"]), first.report["denials"])
        file, failed = learn(caller, workload, run)
        equal((shared / "out").read_text(), "built\n")
        told = json.loads(said(caller, "policy", "replay", str(file), failed[-1], "--json"))
        equal((told["still_refused"], told["newly_refused"]), (0, 0), told)
        return f"{len(failed) + 1} runs"
    finally:
        made = str(place)
        assert made.startswith("/srv/cordon-learn-"), made
        shutil.rmtree(made, ignore_errors=True)


def words(caller):
    """Nothing is written where nobody is asked; a file is changed as it is; what the verbs cannot do they say."""
    said(caller, "suggest", "--policy", "strict", code=4)
    caller.run(["--allow-net", "www.example.com"], ["curl", "-sS", "-m", "8", "https://api.example.com/"])
    file = caller.home / "own.toml"
    own = '# mine\nversion = 1\n[network]\negress_allowlist = [\n  "www.example.com:443", # the site\n]\n'
    file.write_text(own)
    os.chown(file, caller.uid, caller.uid)
    said(caller, "suggest", code=2)
    said(caller, "suggest", "--policy", "no-such-preset", code=4)
    told = said(caller, "suggest", "--write", str(file), code=3)
    expect('+  "api.example.com:443",' in told and file.read_text() == own, told)
    said(caller, "suggest", "--policy", "strict", "--write", str(file), code=2)
    said(caller, "suggest", "--write", str(file), "--yes")
    equal(file.read_text(), own.replace("# the site\n", '# the site\n  "api.example.com:443",\n'))
    expect("allowed by" in said(caller, "suggest", "--policy", str(file)), "once more")
    told = json.loads(said(caller, "suggest", "--policy", "strict", "--json"))
    one, = told["suggestions"]
    equal((one["sign"], one["kind"], one["what"]), ("suggested", "net", "api.example.com:443"))
    # A link that a sandbox may have put where a policy is to be made leads nowhere; one to a policy that was read is meant.
    elsewhere, link = caller.home / "elsewhere", caller.workspace / "made.toml"
    link.symlink_to(elsewhere)
    said(caller, "suggest", "--policy", "strict", "--write", str(link), "--yes")
    expect(not elsewhere.exists() and not link.is_symlink() and "api.example.com" in link.read_text(), "a link was followed")
    link.unlink()
    elsewhere.write_text(own)
    os.chown(elsewhere, caller.uid, caller.uid)
    link.symlink_to(elsewhere)
    said(caller, "suggest", "--write", str(link), "--yes")
    expect(link.is_symlink() and "api.example.com" in elsewhere.read_text(), "the policy behind a link was not changed")
    said(caller, "policy", "replay", str(file), "none", code=4)
    ended = caller.run(["--policy", str(file)], ["curl", "-sS", "-m", "8", "https://api.example.com/hello"])
    equal(ended.code, 0, ended.err)
    narrow = caller.home / "narrow.toml"
    narrow.write_text('version = 1\n[network]\nmode = "none"\n')
    narrow.chmod(0o644)
    told = said(caller, "policy", "replay", str(narrow), ended.report["id"], code=1)
    expect("was allowed, would be refused: 1" in told and "narrow.toml:3" in told, told)


CHECKS = {name: passes(name) for name in ("npm", "pip", "git_build", "agent", "mcp_server")} | {"files": files, "words": words}


def one(name, act, arm, programs, internet):
    def as_caller():
        with Traveller(arm, programs, internet) as caller:
            return act(caller)
    return judged(name, arm, as_caller)


def main(checks=CHECKS):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", help="the directory of cordon and its programs")
    parser.add_argument("--as", dest="arms", choices=("root", "user"), action="append")
    parser.add_argument("names", nargs="*", help="only these checks")
    options = parser.parse_intermixed_args()
    expect(set(options.names) <= set(checks), "no such check:", *options.names)
    if os.geteuid() != 0:
        print("skipped: network namespaces and other users need root")
        return 77
    missing = [name for name in NEEDED if not shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")]
    if missing:
        print("skipped: not installed:", *missing)
        return 77
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))      # so that what was made is taken away
    with Internet() as internet:
        furnish(internet)
        results = [one(name, act, arm, options.programs, internet) for name, act in checks.items() if not options.names or name in options.names
                   for arm in options.arms or ("root", "user")]
    if "FAIL" in results:
        return 1
    return 77 if all(word == "skip" for word in results) else 0


if __name__ == "__main__":
    sys.exit(main())
