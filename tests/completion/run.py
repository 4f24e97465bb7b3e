# SPDX-License-Identifier: Apache-2.0
"""`run.py CORDON SHELL`: the shell takes the script and completes words of the command line by it. 77: the shell is absent."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CORDON = pathlib.Path(sys.argv[1]).resolve()
SHELL = sys.argv[2]

# What was typed, and what must and must not be offered for its last word.
CASES = (
    (["cordon", "ex"], {"exec"}, {"run", "ps"}),
    (["cordon", "policy", ""], {"check", "why"}, {"exec", "ps"}),
    (["cordon", "logs", "--f"], {"--follow"}, {"--take"}),
    (["cordon", "doctor", "--require", ""], {"full", "supervised"}, {"run", "--json"}),
    (["cordon", "policy", "check", "--j"], {"--json"}, {"--node"}),
    (["cordon", "token", "m"], {"mint"}, {"make"}),
    (["cordon", "node", "dr"], {"drain"}, {"run"}),
    (["cordon", "node", "drain", "--w"], {"--wait"}, {"--workspace"}),
    (["cordon", "fleet", ""], {"status", "policy", "quota"}, {"ls"}),
    (["cordon", "kill", ""], {"sandboxone", "sandboxtwo"}, {"run"}),
)

BASH = '''source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_cordon; printf '%s\\n' "${COMPREPLY[@]}"
'''
# The functions of the completion system, told apart from what they show: the words alone matter here.
ZSH = '''compdef() { : }
compadd() { shift; print -l -- $@ }
_files() { : }
_describe() { local each; for each in ${(P)2}; do print -r -- ${each%%:*}; done }
source "$1"; shift
words=("$@"); CURRENT=$#
_cordon
'''
FISH = '''source $argv[1]
complete -C "$argv[2..-1]"
'''


def offered(script, words, path):
    environment = {"PATH": f"{path}:/usr/bin:/bin", "HOME": path, "LANG": "C.UTF-8"}
    code = {"bash": BASH, "zsh": ZSH, "fish": FISH}[SHELL]
    before = {"bash": ["bash", "-c", code, "bash"], "zsh": ["zsh", "-f", "-c", code, "zsh"], "fish": ["fish", "--no-config", "-c", code]}[SHELL]
    done = subprocess.run([*before, script, *words], capture_output=True, text=True, timeout=30, env=environment, check=False)
    if done.stderr:
        raise AssertionError(done.stderr)
    got = {line.split("\t")[0] for line in done.stdout.splitlines()}
    last = words[-1]
    return {word for word in got if word.startswith(last)}     # zsh narrows by itself, elsewhere


def main():
    if not shutil.which(SHELL):
        print(f"skipped: {SHELL} is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as base:
        # The ids come from a node: here from a program in its place.
        fake = pathlib.Path(base, "cordon")
        fake.write_text("#!/bin/sh\necho sandboxone; echo sandboxtwo\n")
        fake.chmod(0o755)
        script = os.path.join(base, "script")
        with open(script, "w", encoding="utf-8") as file:
            subprocess.run([CORDON, "completion", SHELL], stdout=file, check=True)
        for words, wanted, unwanted in CASES:
            got = offered(script, words, base)
            if not wanted <= got or unwanted & got:
                sys.exit(f"{words}: {sorted(got)} lacks {wanted - got}, has {unwanted & got}")
    print(f"{len(CASES)} words completed in {SHELL}")


main()
