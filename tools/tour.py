#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run every `$ …` command of the transcripts in README.md and docs/ and compare what it prints; --update rewrites them.

A transcript is a fenced block with a line that begins with "$ ". Lines beginning with "> " continue the command; what
follows, up to the next command, is its output. `cordon doctor` depends on the machine and is only run, not compared.
"""
import os
import pathlib
import re
import subprocess
import sys

binary = pathlib.Path(sys.argv[1]).resolve()
update = "--update" in sys.argv
environment = {"PATH": f"{binary.parent}:/usr/bin:/bin", "HOME": "/home/user", "LANG": "C.UTF-8"}
ran, bad = 0, []


def output_of(command):
    done = subprocess.run(["bash", "-c", command], env=environment, stdin=subprocess.DEVNULL, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.rstrip("\n").split("\n") if done.stdout.strip() else []


def replay(name, lines):
    global ran
    out, i = [], 0
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
        got = output_of(command)
        ran += 1
        if not command.startswith("cordon doctor"):
            if [line for line in "\n".join(expected).rstrip("\n").split("\n") if any(expected)] != got:
                bad.append(f"{name}: $ {command}\n" + "\n".join("    " + line for line in got))
            expected = got + [""] * gap
        out += shown + expected
    return out


os.chdir(pathlib.Path(__file__).resolve().parent.parent)
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
