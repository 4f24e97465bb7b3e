# SPDX-License-Identifier: Apache-2.0
"""The checks of this suite: each has a name, the rows of the containment matrix that it speaks for, and the arms it runs in."""
import time
import traceback
from dataclasses import dataclass

import names

CHECKS = {}
WORKS = "it says that something works"      # a reason to have no counter-arm


@dataclass(frozen=True)
class Check:
    name: str
    rows: tuple
    arms: tuple
    act: object
    slow: bool
    counter: str | None


class Skip(Exception):
    """The reason why a check cannot be made here."""


def judged(name, arm, act):
    """Says in a line how it ended, and gives the line's first word."""
    begin = time.monotonic()
    try:
        told = act()
        word = "pass"
    except Skip as reason:
        word, told = "skip", reason
    except Exception as error:
        word = "FAIL"
        told = str(error) if isinstance(error, AssertionError) else traceback.format_exc(limit=-3)
    print(f"{word}  {name:<36} {arm:<5} {time.monotonic() - begin:6.1f} s  {told or ''}"[:3000], flush=True)
    return word


def check(name, *rows, arms=("root", "user"), slow=False, counter=None):
    """Registers act(stage). In the arm `bare` there is no sandbox: what is refused in the others must arrive there.

    A refusal says something only where the like is seen to get through. `counter` is the check whose bare arm shows it, or a sentence: why
    there is nothing to be shown. Without it the act itself shows it, by stage.counter()."""
    def register(act):
        assert name not in CHECKS, name
        CHECKS[name] = Check(name, rows, arms, act, slow, name if counter is None and "bare" in arms else counter)
        return act
    return register


def expect(truth, *words):
    if not truth:
        raise AssertionError(" ".join(str(word) for word in words))


def equal(got, wanted, *words):
    expect(got == wanted, *words, f"is {got!r}, not {wanted!r}")


class Stage:
    """What a check works with: the internet, who calls, and in which arm."""

    def __init__(self, internet, caller, arm, options):
        self.internet, self.caller, self.arm, self.options = internet, caller, arm, options
        self.seen = 0

    @property
    def bare(self):
        return self.arm == "bare"

    def counter(self, truth, *words):
        """Something like what is refused here was seen to get through; otherwise the refusals would say nothing."""
        expect(truth, "this says nothing:", *words)
        self.seen += 1

    def run(self, flags, command, timeout=60, env=None):
        """The command in a sandbox with these flags; in the bare arm without one."""
        if self.bare:
            return self.caller.directly(command, timeout, env=env or {})
        flags = [word for name, value in (env or {}).items() for word in ("--env", f"{name}={value}")] + list(flags)
        return self.caller.run(flags, command, timeout)

    def network(self, *rules, more=""):
        """The flags of a policy with this allow-list."""
        return self.caller.policy("[network]\n" + f"egress_allowlist = [{', '.join(rules)}]\n" + more)

    # What must hold outside after an attempt.

    def nothing_inward(self):
        """Nothing reached an address of the host itself, nor a private one."""
        knocks, left = self.internet.knocks(), self.internet.left()
        expect(not knocks, "at the host's own addresses:", knocks[:3], f"and {len(knocks)} in all")
        for which in ("own4", "own6", "udp6", "other4", "other6"):
            expect(which not in left, f"packets of {which}:", left.get(which))

    def only(self, addresses=(), asked=()):
        """Nothing left but to these addresses, and nobody asked for other names than these."""
        self.nothing_inward()
        left = self.internet.left()
        strange = {where: count for where, count in left.get("tcp4", {}).items() if where[0] not in addresses and where[0] not in names.RESOLVERS}
        expect(not strange, "packets to", strange)
        expect(not left.get("tcp6"), "packets to", left.get("tcp6"))
        strange = {where: count for where, count in left.get("udp4", {}).items() if where != (names.RESOLVER, 53)}
        expect(not strange, "datagrams to", strange)
        strange = {name: count for name, count in self.internet.asked().items() if name not in asked}
        expect(not strange, "the resolver was asked for", strange)


def said(ended):
    """What `cordon` itself said: lines that begin with its name, and what is indented below them."""
    lines, ours = [], False
    for line in ended.err.decode(errors="replace").splitlines():
        ours = line.startswith("cordon: ") or (ours and line.startswith("  "))
        if ours:
            lines.append(line)
    return lines
