#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run every `$ …` command of the transcripts in README.md and docs/ and compare what it prints; --update rewrites them.

A transcript is a fenced block with a line that begins with "$ ". Lines beginning with "> " continue the command; what
follows, up to the next command, is its output. `cordon doctor` depends on the machine and is only run, not compared.

Every block begins in a copy of README.md, docs/ and examples/, and `cd` holds until its end. A run has another id each
time: it is printed as ID, and ID in a command stands for the last one; how many seconds a run took is printed as 0, and
the directory that a command is run in as /home/user/shop. It is a copy because a repository may lie at a path that
transcripts name. What runs leave behind goes to a directory of its own, which is removed.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

binary = pathlib.Path(sys.argv[1]).resolve()
update = "--update" in sys.argv
scratch = tempfile.TemporaryDirectory(prefix="cordon-tour-", ignore_cleanup_errors=True)
left_in = pathlib.Path(scratch.name, "left-in")
begin = pathlib.Path(scratch.name, "begin")
environment = {"PATH": f"{binary.parent}:/usr/bin:/bin", "HOME": "/home/user", "LANG": "C.UTF-8",
               "TMPDIR": scratch.name, "XDG_STATE_HOME": f"{scratch.name}/state",
               "XDG_CACHE_HOME": f"{scratch.name}/cache"}
RUN = re.compile(r"\b(?:run|diff) ([a-z2-7]{16})\b")
ran, bad, last_run = 0, [], "ID"


def output_of(command, place):
    """What it prints, and the directory that it ends in."""
    global last_run
    script = f'cd {shlex.quote(place)}\n{re.sub(r"(?<= )ID(?= |$)", last_run, command)}\npwd >{left_in}'
    done = subprocess.run(["bash", "-c", script], env=environment, stdin=subprocess.DEVNULL, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    text = done.stdout
    if found := RUN.search(text):
        last_run = found[1]
        text = re.sub(r"^(run ID   )\d+ s", r"\g<1>0 s", text.replace(last_run, "ID"), flags=re.M)
    left = left_in.read_text().strip()
    for directory in {place, left}:
        text = text.replace(directory, "/home/user/shop")
    return text.rstrip("\n").split("\n") if text.strip() else [], left


def replay(name, lines):
    global ran
    out, i, place = [], 0, str(begin)
    while i < len(lines):
        if not lines[i].startswith("$ "):
            out.append(lines[i])
            i += 1
            continue
        shown = [lines[i]]
        command, i = lines[i][2:], i + 1
        while i < len(lines) and lines[i].startswith("> "):
            shown.append(lines[i])
            command, i = command + "\n" + lines[i][2:], i + 1
        expected = []
        while i < len(lines) and not lines[i].startswith("$ "):
            expected.append(lines[i])
            i += 1
        gap = len(expected) - len("\n".join(expected).rstrip("\n").split("\n")) if any(expected) else 0
        got, place = output_of(command, place)
        ran += 1
        if not command.startswith("cordon doctor"):
            if [line for line in "\n".join(expected).rstrip("\n").split("\n") if any(expected)] != got:
                bad.append(f"{name}: $ {command}\n" + "\n".join("    " + line for line in got))
            expected = got + [""] * gap
        out += shown + expected
    return out


os.chdir(pathlib.Path(__file__).resolve().parent.parent)
for directory in ("docs", "examples"):
    shutil.copytree(directory, begin / directory)
shutil.copy("README.md", begin)
for path in [pathlib.Path("README.md"), *sorted(pathlib.Path("docs").glob("*.md"))]:
    text = path.read_text()

    def block(match):
        lines = match.group(2).split("\n")[:-1]
        if not any(line.startswith("$ ") for line in lines):
            return match.group(0)
        return match.group(1) + "\n".join(replay(path, lines)) + "\n" + match.group(3)

    new = re.sub(r"^(```\w*\n)(.*?)^(```)$", block, text, flags=re.M | re.S)
    if update and new != text:
        path.write_text(new)
print(f"{ran} commands, {len(bad)} with other output than printed")
if bad and not update:
    sys.exit("\n".join(bad))
