# SPDX-License-Identifier: Apache-2.0
"""Runs one program whenever it is told to, and answers how long that took: the same bare and in a sandbox.

Each line that it reads is a JSON object: {"words": [...], "in": DIRECTORY} or {"nice": N}. Each that it writes is one, too.
Only the program's own time is in the figures, whatever it takes to talk with us.
"""
import json
import os
import sys
import time

TOP = os.getcwd()
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": f"{TOP}/home", "TMPDIR": f"{TOP}/scratch", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
               "npm_config_update_notifier": "false", "npm_config_fund": "false", "npm_config_audit": "false"}


def once(words, directory):
    os.chdir(os.path.join(TOP, directory))
    out = os.open(f"{TOP}/scratch/said", os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    actions = [(os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, out, 2), (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)]
    begin = time.perf_counter()
    pid = os.posix_spawn(words[0], words, ENVIRONMENT, file_actions=actions)
    _, status, use = os.wait4(pid, 0)
    wall = time.perf_counter() - begin
    said = os.pread(out, 2000, 0).decode(errors="replace") if status else ""
    os.close(out)
    return {"wall": wall * 1000, "cpu": (use.ru_utime + use.ru_stime) * 1000, "code": os.waitstatus_to_exitcode(status), "said": said}


for line in sys.stdin:
    told = json.loads(line)
    if "nice" in told:
        if told["nice"] > os.getpriority(os.PRIO_PROCESS, 0):
            os.setpriority(os.PRIO_PROCESS, 0, told["nice"])
        answer = {"nice": os.getpriority(os.PRIO_PROCESS, 0)}
    else:
        answer = once(told["words"], told["in"])
    print(json.dumps(answer), flush=True)
