# SPDX-License-Identifier: Apache-2.0
"""Cordon's own SDKs against a real node: `run.py PROGRAMS [python|typescript]`. The same scenario in both languages, at the Unix socket, over TCP and
over TLS; then the examples. CORDON_SDK_PYTHON is another Python for the SDK, like the oldest that it promises. 77: needs root, or Node 20 and `npm ci`
in sdk/typescript for the one in TypeScript."""
import contextlib
import io
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent.parent / "cordond"))
sys.dont_write_bytecode = True

import routes  # noqa: E402
from cutting_relay import CuttingRelay  # noqa: E402
from daemon import Daemon  # noqa: E402
from ports import PYTHON, add_python  # noqa: E402
from tls import Way  # noqa: E402

SETTINGS = "[quota]\nsandboxes = 200\ncreates_per_second = 1000\nrequests = 2000\n"
TOOLS = ("/usr/bin/bash", f"/usr/bin/{PYTHON.name}")
TSC = ROOT / "sdk/typescript/node_modules/.bin/tsc"
EXAMPLE_SAYS = ("exit 2", "seccomp:     held", "refused:     write /workspace/answer", "request:1", "act_refused",
                "allowed:     exit 0 with 0 denials")
CUT_AFTER = 400_000     # bytes of answers; the scenario has three megabytes
LONGEST = 90
OVER_TLS = ("verdicts", "output_survives_broken_connections", "errors_have_words")
# As the scenario narrows it, in the order in which `cordon token attenuate` adds caveats.
SANDBOXES = ("aeaaaaaaaaaaaaaaagxprdaptykunbva5jwrse43", "aeaaaaaaaaaaaaaaaesi6jraves5t6d2iu7og422")
CEILING = {"network": {"mode": "none"}}


def python(place):
    """How its scenario and its example are called, and what they need."""
    interpreter = os.environ.get("CORDON_SDK_PYTHON", sys.executable)
    return ([interpreter, "-B", HERE / "scenario.py"], [interpreter, "-B", ROOT / "examples/python/review_agent_output.py"],
            {"PYTHONPATH": str(ROOT / "sdk/python")})


def typescript(place):
    """Compiled where nothing else is: the example finds the package as it would when it is installed."""
    package = place / "node_modules/cordon-sandbox"
    subprocess.run([TSC, "-p", ROOT / "sdk/typescript", "--outDir", package / "dist"], check=True)
    shutil.copy(ROOT / "sdk/typescript/package.json", package)
    (place / "package.json").write_text('{"type": "module"}')
    for file in (HERE / "scenario.mjs", ROOT / "examples/typescript/review_agent_output.ts"):
        shutil.copy(file, place)
    subprocess.run([TSC, place / "review_agent_output.ts", "--outDir", place, "--strict", "--target", "ES2022", "--module", "NodeNext", "--types",
                    "node", "--typeRoots", ROOT / "sdk/typescript/node_modules/@types"], check=True)
    return ["node", place / "scenario.mjs"], ["node", place / "review_agent_output.js"], {}


LANGUAGES = {"python": python, "typescript": typescript}


def skipped():
    if os.geteuid() != 0:
        return {name: "needs root" for name in LANGUAGES}
    return {} if TSC.exists() and shutil.which("node") else {"typescript": "needs node, and `npm ci` in sdk/typescript"}


def climbing_archive(place):
    with tarfile.open(place, "w") as archive:
        archive.addfile(tarfile.TarInfo("../x"), io.BytesIO())


def narrowed(programs, token, place):
    """By the command line, which the SDKs must equal byte for byte."""
    ceiling = place / "ceiling.json"
    ceiling.write_text(json.dumps(CEILING))
    words = ["--tenant", "a", "--operation", "sandbox.read", "--operation", "audit.read", "--path", "/workspace", "--budget", "sandboxes=3",
             "--budget", f"egress_bytes={1 << 40}", "--ceiling", ceiling]
    for each in SANDBOXES:
        words += ["--sandbox", each]
    made = subprocess.run([programs / "cordon", "token", "attenuate", *words], input=token, capture_output=True, text=True, check=True)
    return made.stdout.strip()


def called(report):
    """What a scenario has asked, as it wrote it down."""
    return {tuple(each) for each in json.loads(report.read_text())}


def arms(node, programs, place):
    """Each way to a node: its name, the variables that lead there, and how a relay reaches it."""
    port = node.serve_tcp()
    with node.client(tenant="a") as client:
        key = client.ask("POST", "/v1/keys", {"label": "sdk"}).json["key"]

    def tokens():
        """Of each arm its own: narrowed by the same words they would be the same, and one arm would take back those of the next."""
        token = node.mint("--tenant", "a")
        return {"CORDON_TEST_TOKEN": token, "CORDON_TEST_NARROWED": narrowed(programs, token, place)}

    def at_socket():
        made = socket.socket(socket.AF_UNIX)
        made.connect(node.socket)
        return made

    yield "unix", {**tokens(), "CORDON_NODE": node.socket, "CORDON_TOKEN": "", "CORDON_TEST_TENANT": "a", "CORDON_TEST_OPERATOR": ""}, at_socket
    yield ("tcp", {**tokens(), "CORDON_NODE": f"http://127.0.0.1:{port}", "CORDON_TOKEN": key, "CORDON_TEST_OPERATOR": node.mint("--operator")},
           lambda: socket.create_connection(("127.0.0.1", port)))


def run(words, variables, name):
    try:
        return subprocess.run(words, env={**os.environ, **variables}, timeout=LONGEST).returncode == 0
    except subprocess.TimeoutExpired:
        print(f"{name}: no end within {LONGEST} s")
        return False


def shows(words, variables, name):
    """An example, and that it shows what it is for."""
    done = subprocess.run(words, env={**os.environ, **variables}, timeout=60, capture_output=True, text=True)
    missing = [each for each in EXAMPLE_SAYS if each not in done.stdout]
    good = done.returncode == 0 and not missing
    print(f"{name}: ok" if good else f"{name}: FAILED, without {missing}: {done.stdout}{done.stderr}", flush=True)
    return good


def scenario(words, variables, reach, name, *steps):
    scheme = variables["CORDON_NODE"].partition(":")[0] if "://" in variables["CORDON_NODE"] else "http"
    with CuttingRelay(reach, CUT_AFTER) as relay:
        good = run([*words, *steps], {**variables, "CORDON_TEST_CUT": f"{scheme}://127.0.0.1:{relay.port}"}, name)
        if good and relay.cuts < 3:
            print(f"{name}: {relay.cuts} connections were cut: nothing was shown")
            good = False
    print(f"{name}: {'ok' if good else 'FAILED'}, {relay.cuts} connections cut", flush=True)
    return good


def check(language, programs, place):
    """True: all is well."""
    words, example, variables = LANGUAGES[language](place)
    report = place / "called.json"
    variables = {**variables, "CORDON_TEST_PYTHON": f"/usr/bin/{PYTHON.name}", "CORDON_TEST_ARCHIVE": str(place / "climbing.tar"),
                 "CORDON_TEST_CALLED": str(report)}
    climbing_archive(place / "climbing.tar")
    good = True
    kept = place / "secrets"
    kept.mkdir(mode=0o700)
    with Daemon(programs, tools=TOOLS, floor=f"secrets = {kept}\n") as node:
        node.config.write_text(node.config.read_text() + SETTINGS)
        add_python(node)
        for name, leading, reach in arms(node, programs, place):
            report.unlink(missing_ok=True)
            good &= scenario(words, {**variables, **leading}, reach, f"{language} {name}")
            if good and (missed := routes.asked(language) - called(report)):
                print(f"{language} {name}: never asked a node: {sorted(missed)}")
                good = False
            good &= shows(example, {**variables, **leading}, f"{language} {name}: the example")
        if not good:
            print(node.log("cordond")[-3000:])
    with Daemon(programs, tools=TOOLS) as node:
        node.config.write_text(node.config.read_text() + SETTINGS)
        way = Way(node, asks=False)
        leading = {"CORDON_NODE": f"https://127.0.0.1:{way.port}", "CORDON_TOKEN": way.token, "CORDON_TEST_AUTHORITY": str(way.place / "site.pem")}
        good &= scenario(words, {**variables, **leading}, lambda: socket.create_connection(("127.0.0.1", way.port)), f"{language} tls", *OVER_TLS)
    return good


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))       # the node goes with us
    programs = pathlib.Path(sys.argv[1]).resolve()
    wanted = sys.argv[2:] or list(LANGUAGES)
    why = skipped()
    for each in set(wanted) & set(why):
        print(f"{each}: skipped: {why[each]}")
    wanted = [each for each in wanted if each not in why]
    if not wanted:
        sys.exit(77)
    results = []
    for language in wanted:
        with contextlib.ExitStack() as stack:
            results.append(check(language, programs, pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cordon-sdk-")))))
    sys.exit(0 if all(results) else 1)


main()
