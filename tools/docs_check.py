#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fail when a page links to nothing, or names a file of this repository that does not exist.

Links are relative to their page, paths in backquotes to the repository's root. A line with the word "planned" may name
paths that are yet to come. Blocks of code are not looked at.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:src|docs|tools|bench|examples|tests|fuzz|cmake)/[\w./*-]*)(?::\d+)?`")


def slugs(page):
    """The anchors of a page's headings, as repository hosts make them."""
    heads = re.findall(r"^#+ +(.+)$", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def faults(page):
    fenced = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        if fenced:
            continue
        at = f"{page.relative_to(ROOT)}:{number}"
        for link in LINK.findall(line):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            if not target.exists():
                yield f"{at}: {link} leads to nothing"
            elif anchor and target.suffix == ".md" and anchor not in slugs(target):
                yield f"{at}: {link} has no such heading"
        if "planned" in line:
            continue
        for path in PATH.findall(line):
            if not any(ROOT.glob(path.rstrip("/"))):
                yield f"{at}: there is no {path}"


pages = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, check=True,
                       capture_output=True, text=True).stdout.split()
sys.exit("\n".join(fault for page in pages for fault in faults(ROOT / page)) or 0)
