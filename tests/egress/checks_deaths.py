# SPDX-License-Identifier: Apache-2.0
"""Rows of group J about deaths and loads."""
import os
import time

from caller import name_of
from checks import WORKS, check, equal, expect
from acts import API, API_RULE, GET, WAIT, Running, egress_of, fresh, two
from content import MARK


@check("rows.death_of_egress", "C157", "C158")
def death_of_egress(stage):
    """Killed while it serves: nothing goes past it, and once it is back the same things are allowed and refused."""
    stage.internet.forget()
    fresh(stage, "turn1", "turn2")
    one = "curl -sSk -m 4 https://api.example.com/hello && echo ALLOWED; curl -sSk -m 4 https://evil.example.net/hello && echo REFUSED-GOT; curl -sSk -m 2 http://169.254.169.254/ && echo META-GOT"
    script = (f"{one}; touch turn1; n=0; while [ ! -e over ] && [ $n -lt 400 ]; do n=$((n+1)); {one}; done 2>/dev/null; touch turn2; sleep 1; echo AFTER; {one}; true")
    begin = time.monotonic()
    child, report = stage.caller.start(stage.network(API_RULE), ["sh", "-c", script])
    turn = stage.caller.workspace / "turn1"
    while not turn.exists():
        expect(time.monotonic() - begin < 30 and child.poll() is None, "it did not begin")
        time.sleep(0.02)
    killed = 0
    for _ in range(5):
        for pid in egress_of(stage):
            os.kill(pid, 9)
            killed += 1
        time.sleep(0.6)
    (stage.caller.workspace / "over").touch()
    ended = stage.caller.finish(child, report, 90, begin)
    out = ended.out.decode()
    expect(killed > 0, "there is no cordon-egress to be killed")
    expect("GOT" not in out, "through:", out[-300:])
    stage.only([API], ["api.example.com"])
    stage.counter("ALLOWED" in out.partition("AFTER")[2], f"after {killed} deaths nothing is served:", out[-300:], ended.err[-500:])
    return f"{killed} deaths"


@check("rows.no_holder", "C321", "C157")
def no_holder(stage):
    """Egress and launcher killed at once, while a server inside has the port on 0.0.0.0: a connection to the world never lands there."""
    fresh(stage, "ready")
    stage.caller.give("hello", MARK)
    stage.internet.forget()
    script = ("/usr/bin/python3 -m http.server 8080 --bind 0.0.0.0 >served 2>&1 & until curl -sS -m 1 -o own http://127.0.0.1:8080/hello; do sleep 0.05; done; touch ready; "
              "n=0; while [ $n -lt 200 ]; do n=$((n+1)); curl -sS -m 1 http://45.33.1.1:8080/world; curl -sS -m 1 http://45.33.1.2:8080/world; done")
    for victims in (("cordon-egress",), ("cordon-egress", "cordon-launche")):
        fresh(stage, "ready")
        begin = time.monotonic()
        child, report = stage.caller.start(stage.network(API_RULE), ["sh", "-c", script])
        while not (stage.caller.workspace / "ready").exists():
            expect(time.monotonic() - begin < 20 and child.poll() is None, "it did not begin")
            time.sleep(0.02)
        for _ in range(3):
            for pid in [pid for pid in stage.caller._ours() if name_of(pid).startswith(victims)]:
                os.kill(pid, 9)
            time.sleep(0.3)
        child.terminate()
        ended = stage.caller.finish(child, report, 30, begin)
        served = (stage.caller.workspace / "served").read_text()
        stage.counter("/hello" in served, "the server was not reached from inside", served, ended.err[-300:])
        expect("/world" not in served, "a connection to the world landed on a server inside", served[-300:])
        stage.only()


@check("rows.death_of_cordon", "C157")
def death_of_cordon(stage):
    """Killed itself: sandbox, launcher and egress end with it."""
    fresh(stage, "ready")
    before = set(stage.caller._ours())
    begin = time.monotonic()
    child, report = stage.caller.start(stage.network(API_RULE), ["sh", "-c", "touch ready; " + WAIT])
    while not (stage.caller.workspace / "ready").exists():
        expect(time.monotonic() - begin < 20 and child.poll() is None, "it did not begin")
        time.sleep(0.02)
    stage.counter(egress_of(stage), "there is no cordon-egress")
    child.kill()
    child.wait()
    end = time.monotonic() + 3
    while (left := [f"{pid} {name_of(pid)}" for pid in set(stage.caller._ours()) - before if name_of(pid)]) and time.monotonic() < end:
        time.sleep(0.05)
    equal(left, [], "left behind")


@check("rows.after_the_run", "C158")
def after_the_run(stage):
    """Of a run with a network nothing is left: no process, no descriptor that holds its namespace."""
    before = set(stage.caller._ours())
    with Running(stage, stage.network(API_RULE), " ".join(GET)) as running:
        stage.counter(len(set(stage.caller._ours()) - before) > 3, "no processes of it are seen while it runs")
    equal(running.ended.out.decode(), MARK, running.ended.err[-300:])
    end = time.monotonic() + 3
    while (left := [f"{pid} {name_of(pid)}" for pid in set(stage.caller._ours()) - before if name_of(pid)]) and time.monotonic() < end:
        time.sleep(0.05)
    equal(left, [], "left behind")


MANY = """
import socket, sys, threading, time, collections
total, threads, targets = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
count, lock, begin, marks = collections.Counter(), threading.Lock(), time.monotonic(), []
def work(number):
    for turn in range(number, total, threads):
        sock = socket.socket(); sock.settimeout(10)
        try:
            sock.connect((targets[turn % len(targets)], 8080)); sock.recv(1); word = "closed"
        except ConnectionResetError: word = "reset"
        except OSError as error: word = type(error).__name__
        sock.close()
        with lock:
            count[word] += 1
            if sum(count.values()) % (total // 4) == 0: marks.append(round(time.monotonic() - begin, 2))
all = [threading.Thread(target=work, args=(n,)) for n in range(threads)]
[each.start() for each in all]; [each.join() for each in all]
print(dict(count), marks)
"""


@check("rows.many_connections", "C322", slow=True, counter="it says that none of its connections hangs, not that they are refused")
def many_connections(stage):
    """60,000 refused connections to four addresses: none hangs, and the last quarter is no slower than twice the first."""
    stage.internet.forget()
    ended = stage.run(stage.network(API_RULE), ["/usr/bin/python3", "-c", MANY, "60000", "8", "45.33.1.1", "45.33.1.2", "45.33.1.3", "45.33.1.4"],
                      timeout=300)
    counted, marks = eval(ended.out.decode().replace("} [", "}, ["))      # our own program's print
    expect(set(counted) <= {"reset", "closed"}, counted)
    quarters = [later - earlier for earlier, later in zip([0, *marks], marks)]
    expect(max(quarters) <= 2 * min(quarters), "seconds for each quarter:", quarters)
    stage.only()
    return f"{60000 / marks[-1]:.0f} a second"


@check("rows.flood", "C323", slow=True, counter=WORKS)
def flood(stage):
    """Ten thousand connections from one sandbox, and another is served meanwhile."""
    fresh(stage, "begun")
    alone = stage.run(stage.network(API_RULE), GET)
    first = f"touch begun; /usr/bin/python3 -c '{MANY}' 10000 64 45.33.1.1 45.33.1.2"
    _, later = two(stage, stage.network(API_RULE), ["sh", "-c", first], stage.network(API_RULE), GET, "begun")
    equal(later.out.decode(), MARK, later.err[-300:])
    expect(later.seconds < 2 * alone.seconds + 1, f"{later.seconds:.2f} s beside a flood, {alone.seconds:.2f} s alone")
