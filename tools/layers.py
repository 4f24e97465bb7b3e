#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fail when a file includes a module that src/LAYERS does not grant to its own, or a kernel header outside os."""
import pathlib
import re
import sys

src, allow, bad = pathlib.Path("src"), {}, []
for line in (src / "LAYERS").read_text().splitlines():
    if name := (rule := line.split("#")[0]).partition(":")[0].strip():
        uses = set(rule.partition(":")[2].split())
        bad += [f"LAYERS: {name} uses {u}, not listed above it" for u in uses - set(allow) - {"*"}]
        allow[name] = set(allow) if "*" in uses else uses

KERNEL = re.compile(r"^#include <(?:sys|linux)/", re.M)
MAY_TOUCH_THE_KERNEL = {"os", "launcher", "guest", "files"}
for f in sorted(p for p in src.rglob("*") if p.suffix in (".h", ".cc")):
    module, text = f.relative_to(src).parts[0], f.read_text()
    if module not in allow:
        bad.append(f"{f}: module {module} is not in src/LAYERS")
        continue
    bad += [f"{f}: {module} may not include {inc}" for inc in re.findall(r'^#include "(\w+)/', text, re.M)
            if inc != module and inc not in allow[module]]
    if module not in MAY_TOUCH_THE_KERNEL and not f.name.endswith("_test.cc") and KERNEL.search(text):
        bad.append(f"{f}: includes a <sys/...> or <linux/...> header; only {', '.join(sorted(MAY_TOUCH_THE_KERNEL))} may")
    if "TODO(now)" in text:
        bad.append(f"{f}: TODO(now)")
    # The kernel lends some of its functions only to programs under its own licence.
    licence = "Apache-2.0 OR GPL-2.0-only" if f.parent == src / "recorder/kernel" and f.suffix == ".h" and f.name != "load.h" else "Apache-2.0"
    if not text.startswith(f"// SPDX-License-Identifier: {licence}\n"):
        bad.append(f"{f}: does not open with its SPDX line")
sys.exit("\n".join(bad) or 0)
