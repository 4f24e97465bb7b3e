# SPDX-License-Identifier: Apache-2.0
"""Correct clients of a fleet, who ask again as docs/fleet.md says, and the account of what they were promised.

`with Load(fleet) as load:` has them at work; `load.hold()` after it says whether every promise was kept."""
import collections
import http.client
import json
import threading
import time

from cluster import equal, expect

TENANT = "load"
ANSWER = 5          # seconds that a client waits for one answer
KEY = 6             # and asks again with the same key, before it takes another one
GIVE_UP = 90        # of asking again: past that a request has failed
PAUSE = 0.1         # before the same is asked again
PASSING = {502, 503}


class Failed(Exception):
    """What asking again does not cover."""


class Lost(Exception):
    """The fleet says that a sandbox is gone."""


def code_of(answer):
    try:
        return answer.json.get("code", "")
    except (ValueError, AttributeError):
        return ""


class Account:
    """What was promised: which key got which ids, which sandboxes are somebody's, and what went wrong."""

    def __init__(self):
        self.lock = threading.Lock()
        self.ids = collections.defaultdict(set)     # by key: all that was ever answered
        self.held = {}                              # id: key, from its 201 until its end is asked for
        self.ended = set()
        self.abandoned = set()                      # keys that have perhaps made one, which nobody has heard of
        self.lost = {}                              # id: what was said of it
        self.wrong = []
        self.created_at = []                        # when each was answered
        self.counts = collections.Counter()
        self.longest = collections.Counter()        # seconds of asking, by what was asked

    def created(self, key, sandbox):
        with self.lock:
            self.ids[key].add(sandbox)
            if len(self.ids[key]) > 1:
                self.wrong.append(f"the key {key} has made {self.ids[key]}")
            self.held[sandbox] = key
            self.created_at.append(time.monotonic())
            self.counts["created"] += 1

    def took(self, what, seconds):
        with self.lock:
            self.counts[what] += 1
            self.longest[what] = max(self.longest[what], seconds)

    def retried(self, why):
        with self.lock:
            self.counts["asked again"] += 1
            self.counts[f"again: {why}"] += 1

    def gone(self, sandbox):
        with self.lock:
            self.ended.add(sandbox)
            self.held.pop(sandbox, None)

    def is_lost(self, sandbox, answer):
        with self.lock:
            self.lost[sandbox] = (answer.status, code_of(answer))
            self.held.pop(sandbox, None)


class Worker:
    """One client: it speaks to one gateway, and to the next one where that does not answer."""

    def __init__(self, load, number):
        self.load, self.account, self.number = load, load.account, number
        self.at, self.client, self.keys = number, None, 0

    def once(self, method, path, body=None, fields=None):
        """One answer; nothing: none came."""
        gateways = self.load.fleet.gateways
        try:
            if self.client is None:
                self.client = gateways[self.at % len(gateways)].client(token=self.load.token, timeout=ANSWER)
            answer = self.client.ask(method, path, body, fields)
        except (OSError, http.client.HTTPException) as error:
            self.move()
            self.account.retried(type(error).__name__)
            return None
        if answer.status in PASSING:
            self.account.retried(code_of(answer) or str(answer.status))
            self.move()
        elif answer.fields.get("Connection", "").lower() == "close":
            self.move()
        return answer

    def move(self):
        if self.client:
            self.client.connection.close()
        self.client, self.at = None, self.at + 1

    def ask(self, what, method, path, body=None):
        """Until somebody says what became of it."""
        begun = time.monotonic()
        while True:
            answer = self.once(method, path, body)
            if answer and answer.status not in PASSING:
                self.account.took(what, time.monotonic() - begun)
                return answer
            if time.monotonic() - begun > GIVE_UP:
                raise Failed(f"{what} {path}: not within {GIVE_UP} s, last {answer}")
            time.sleep(PAUSE)

    def create(self):
        begun = time.monotonic()
        while time.monotonic() - begun < GIVE_UP:
            self.keys += 1
            key = f"{self.load.name}-{self.number}-{self.keys}"
            body = {"labels": {"key": key}, "timeout_seconds": 3600}
            fields = {"Idempotency-Key": key} if self.load.has_keys else {}
            first = time.monotonic()
            while time.monotonic() - first < KEY:
                answer = self.once("POST", "/v1/sandboxes", body, fields)
                if answer and answer.status == 201:
                    self.account.took("create", time.monotonic() - begun)
                    self.account.created(key, answer.json["id"])
                    return key, answer.json["id"]
                # Whoever has no room has made nothing; one that is being made is there soon.
                if answer and code_of(answer) == "CORDON-FLEET-FULL":
                    break
                if answer and answer.status not in PASSING | {409}:
                    raise Failed(f"create: {answer}")
                time.sleep(PAUSE)
            else:
                with self.account.lock:
                    self.account.abandoned.add(key)
        raise Failed(f"create: not within {GIVE_UP} s")

    def about(self, sandbox, what, method, path, body=None, wanted=(200, 201)):
        answer = self.ask(what, method, f"/v1/sandboxes/{sandbox}{path}", body)
        if answer.status in wanted:
            return answer
        if answer.status in (404, 410):
            self.account.is_lost(sandbox, answer)
            raise Lost(f"{sandbox}: {answer}")
        raise Failed(f"{what} {sandbox}: {answer}")

    def life(self):
        key, sandbox = self.create()
        ran = self.about(sandbox, "run", "POST", "/run", {"command": ["/usr/bin/printf", "%s", key]})
        if ran.json["stdout"] != key:
            raise Failed(f"{sandbox}: it says {ran.json}, not {key}")
        process = self.about(sandbox, "start", "POST", "/processes", {"command": ["/usr/bin/printf", "%s", key]}).json["process"]
        # By default what was sent counts as received, also by a client that has gone meanwhile.
        output = self.about(sandbox, "output", "GET", f"/processes/{process}/output?acknowledge=client")
        said = "".join(line.get("data", "") for line in map(json.loads, output.body.splitlines()) if line["event"] == "stdout")
        if said != key:
            raise Failed(f"{sandbox}: its output is {said!r}, not {key!r}")
        listed = self.ask("list", "GET", f"/v1/sandboxes?label.key={key}")
        if listed.status != 200:
            raise Failed(f"list: {listed}")
        if sandbox not in [each["id"] for each in listed.json["sandboxes"]] and not listed.json.get("unanswered"):
            raise Failed(f"{sandbox} is in no list, and all nodes have answered: {listed}")
        # Of an end that was asked for twice the second finds nothing.
        self.about(sandbox, "delete", "DELETE", "", wanted=(200, 404))
        self.account.gone(sandbox)

    def work(self):
        while not self.load.stop.is_set():
            try:
                self.life()
            except Lost:
                pass
            except Exception as error:     # also what no client should have met
                with self.account.lock:
                    self.account.wrong.append(f"{type(error).__name__}: {error}")
            self.load.stop.wait(self.load.pause)
        if self.client:
            self.client.connection.close()


class Load:
    """A context: clients at work. `kept`: sandboxes that nobody ends, each with a process that goes on."""

    names = iter(range(1 << 20))

    def __init__(self, fleet, workers=3, kept=0, has_keys=True, pause=0.1):
        self.fleet, self.has_keys, self.pause = fleet, has_keys, pause
        self.name = f"l{next(Load.names)}"
        self.account, self.stop = Account(), threading.Event()
        self.token = fleet.mint("--tenant", TENANT)
        self.workers = [Worker(self, number) for number in range(workers)]
        self.asker = Worker(self, workers)      # of whoever checks
        self.count = kept
        self.kept = {}      # id: its node

    def keep(self):
        """As many as there should be."""
        while len(self.kept) < self.count:
            _, sandbox = self.asker.create()
            self.asker.about(sandbox, "start", "POST", "/processes", {"command": ["/usr/bin/sleep", "100000"]})
            self.kept[sandbox] = self.fleet.node_of(sandbox)

    def __enter__(self):
        self.keep()
        self.threads = [threading.Thread(target=worker.work, daemon=True) for worker in self.workers]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join(GIVE_UP + ANSWER + 5)

    def forget(self, sandboxes):
        """That were lost with their node."""
        for sandbox in sandboxes:
            self.kept.pop(sandbox, None)

    def look(self, nodes=None):
        """Each that is kept, on these nodes or on all, is there, and its process goes on."""
        for sandbox, node in list(self.kept.items()):
            if nodes is None or node in nodes:
                processes = self.asker.about(sandbox, "look", "GET", "/processes").json["processes"]
                equal([each["state"] for each in processes], ["running"], sandbox)

    def longest_gap(self, since, until=None):
        """Seconds without a new sandbox from then on."""
        with self.account.lock:
            times = [since, *(at for at in self.account.created_at if since <= at <= (until or at)), until or time.monotonic()]
        return max(later - earlier for earlier, later in zip(times, times[1:]))

    def orphans(self):
        """Living sandboxes that no client knows: their keys, by asking the nodes themselves."""
        found = []
        for node in self.fleet.nodes:
            with node.client(tenant=TENANT) as client:
                for each in client.ask("GET", "/v1/sandboxes?limit=1000").json["sandboxes"]:
                    key = each.get("labels", {}).get("key", "")
                    if key.startswith(f"{self.name}-") and each["id"] not in self.account.held and each.get("state") != "ended":
                        found.append((key, each["id"]))
        return found

    def clean(self):
        for node in self.fleet.nodes:
            with node.client() as client:
                for each in client.ask("GET", "/v1/sandboxes?limit=1000").json["sandboxes"]:
                    client.ask("DELETE", f"/v1/sandboxes/{each['id']}")

    def hold(self, lost=(), longest=GIVE_UP):
        """After its end: nothing went wrong, nobody's sandbox is lost but on nodes in `lost`, no key has made two, and nothing took longer."""
        account = self.account
        expect(not any(thread.is_alive() for thread in self.threads), "a client still waits")
        expect(not account.wrong, len(account.wrong), "promises broken:", "\n".join(account.wrong[:8]))
        self.look()
        for sandbox, said in account.lost.items():
            expect(lost and said == (410, "CORDON-FLEET-NODE-DEAD"), sandbox, "is lost:", said)
        orphans = self.orphans()
        by_key = collections.Counter(key for key, _ in orphans)
        expect(set(by_key) <= account.abandoned and max(by_key.values(), default=0) <= 1, "sandboxes that nobody asked for:", orphans)
        for what, seconds in account.longest.items():
            expect(seconds <= longest, what, "took", f"{seconds:.1f} s, not {longest}")
        expect(account.counts["created"] > len(self.workers), "there was no load:", account.counts)
        self.clean()

    def said(self):
        counts, longest = self.account.counts, self.account.longest
        return (f"{counts['created']} sandboxes, {sum(counts[what] for what in longest)} requests answered, asked again {counts['asked again']} times, "
                f"longest create {longest['create']:.1f} s, longest other {max((seconds for what, seconds in longest.items() if what != 'create'), default=0):.1f} s")
