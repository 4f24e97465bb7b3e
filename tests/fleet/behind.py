# SPDX-License-Identifier: Apache-2.0
"""The behaviour tests of a node's API, of the command and of its streams, through a gateway in front of two nodes: `behind.py PROGRAMS [SUITE.CHECK...]`.

Each check passes there too, or is named in differences.toml with the reason; one that is named and passes is a failure as well."""
import collections
import importlib
import signal
import sys
import time
import tomllib
import traceback

import parties      # finds tests/cordond
from cluster import expect, wait_until
from parties import HERE, Fleet, missing

SUITES = ("api", "stream", "trees", "ports", "events", "cp", "cli", "tokens")


class Behind:
    """A fleet where a check expects a node."""

    def __init__(self, fleet):
        self.fleet, self.gateway = fleet, fleet.gateways[0]
        self.programs, self.base, self.key = fleet.programs, fleet.base, fleet.root_key
        self.socket, self.node, self.launcher = self.gateway.socket, "cordond", "launcher"
        self.root = fleet.nodes[0].daemon.root
        self.uid = fleet.nodes[0].daemon.uid
        self.settings = ""

    def client(self, **how):
        return self.gateway.client(**how)

    def mint(self, *caveats):
        return self.fleet.mint(*caveats)

    def configure(self, settings):
        """Of all nodes, from a fresh start."""
        for node in self.fleet.nodes:
            node.daemon.end(node.daemon.node)
            config = node.daemon.config
            config.write_text(config.read_text().replace(self.settings, "", 1) if self.settings else config.read_text())
            if settings:
                config.write_text(config.read_text().replace("[listen]\n", settings + "[listen]\n", 1))
            node.daemon.start_node()
        self.settings = settings
        self.fleet.settle()

    def log(self, _):
        return self.fleet.log()

    def end(self, what, how=signal.SIGTERM):
        expect(what == "cordond", "only the node itself dies here")
        codes = [node.daemon.end(node.daemon.node, how) for node in self.fleet.nodes]
        return next((code for code in codes if code), 0)

    def start_node(self):
        for node in self.fleet.nodes:
            node.daemon.start_node()
        self.fleet.settle()

    def clean(self):
        """Nothing is left for the next check."""
        for node in self.fleet.nodes:
            if node.daemon.node.poll() is not None:
                node.daemon.start_node()
            with node.client() as client:
                for sandbox in client.ask("GET", "/v1/sandboxes?limit=1000").json["sandboxes"]:
                    client.ask("DELETE", f"/v1/sandboxes/{sandbox['id']}")
                wait_until(lambda: not client.ask("GET", "/v1/sandboxes").json["sandboxes"], 20, "no sandbox is left:")
                client.ask("POST", "/v1/node/resume")
        self.fleet.settle()


def main():
    if absent := missing():
        print(f"skipped: no {', '.join(absent)}")
        sys.exit(77)
    programs, names = sys.argv[1], sys.argv[2:]
    modules = {suite: importlib.import_module(suite) for suite in SUITES}
    checks = {f"{suite}.{name}": check for suite, module in modules.items() for name, check in module.CHECKS.items()}
    if unknown := set(names) - set(checks) - set(SUITES):
        sys.exit(f"no check is called {', '.join(sorted(unknown))}: a test of that name would test nothing")
    differences = tomllib.loads((HERE / "differences.toml").read_text())
    tools = {tool for module in modules.values() for tool in getattr(module, "TOOLS", ())} | {"/usr/bin/stty", str(modules["ports"].PYTHON)}
    counts, wrong = collections.Counter(), []
    with Fleet(programs, nodes=2, gateways=1, slots=60, tools=tuple(sorted(tools))) as fleet:
        node = Behind(fleet)
        for name, check in checks.items():
            if names and name not in names and name.split(".")[0] not in names:
                continue
            reason = differences.get(name)
            begin, said = time.monotonic(), ""
            suite, plain = name.split(".")
            settings = getattr(modules[suite], "SETTINGS", {}).get(plain, "") if suite in ("api", "trees") else ""
            if settings != node.settings or suite == "events":      # the latter's checks begin with nothing told
                node.configure(settings)
            try:
                word, said = "pass", check(node) or ""
            except Exception:
                word, said = ("differs", reason) if reason else ("FAIL", "\n" + traceback.format_exc(limit=-3))
            if word == "FAIL":
                print(fleet.log())
            if word == "FAIL" or (word == "pass" and reason and not reason.startswith("sometimes: ")):
                wrong.append(name)
                said = said if word == "FAIL" else "is named in differences.toml, and passes"
            counts[word] += 1
            print(f"{word:8} {name:<44} {time.monotonic() - begin:6.1f} s  {said}", flush=True)
            node.clean()
    whole = sum(counts.values())
    print(f"{counts['pass']} of {whole} are the same, {counts['differs']} differ as listed; wrong: {' '.join(wrong) or 'none'}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
