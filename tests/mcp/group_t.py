# SPDX-License-Identifier: Apache-2.0
"""Each P0 row of group T of the containment matrix (tools and their servers) has a check that names it, and that some test runs."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = {
    "C265": ("a tool or its server changes after it was approved", ("tests/mcp/wrap.py", "pins"), ("src/mcp/ask_test.cc", "Pins, RefuseAToolThatHasChanged")),
    "C266": ("a description hides instructions", ("tests/mcp/wrap.py", "poison"), ("src/mcp/ask_test.cc", "Pins, WaitForAPersonWhereADescriptionHidesSomething")),
    "C267": ("a tool looks like another's", ("tests/mcp/wrap.py", "namesakes"), ("tests/mcp/wrap.py", "poison")),
    "C268": ("arguments that the tool was not meant for", ("tests/mcp/wrap.py", "arguments"), ("src/mcp/gate_test.cc", "Gate, HoldsArgumentsAgainstTheRulesSchema")),
    "C269": ("a prefix or a link leads a tool of files out", ("tests/mcp/wrap_sdk.py", "reference")),
    "C270": ("one tenant's sandbox uses what is another's", ("tests/cordond/secrets.py", "tenants_have_their_own"), ("tests/sdk/e2b/checks.mjs", "others")),
    "C271": ("a token of another audience, or passed on", ("src/token/verify_test.cc", "Verify, RefusesTokensOfAnotherAudienceNumberOrRoot"),
             ("tests/mcp/serve_http.py", "token_goes_no_further")),
    "C272": ("a session is guessed, stolen or used after its end", ("tests/mcp/serve_http.py", "sessions")),
    "C273": ("a page of a browser reaches a server of this machine", ("tests/mcp/serve_http.py", "who_may_come_in")),
    "C275": ("a configuration injects into a server's command", ("tests/mcp/wrap.py", "launch")),
    "C276": ("a server is hostile", ("tests/mcp/wrap.py", "contained"), ("tests/mcp/wrap.py", "server_talk")),
}


def faults():
    for row, (_, *checks) in ROWS.items():
        for file, name in checks:
            text = (ROOT / file).read_text()
            start = {".py": f"\ndef {name}(", ".mjs": f"\n  {name}: ", ".cc": f"\nTEST({name})"}[pathlib.Path(file).suffix]
            if start not in text:
                yield f"{row}: {file} has no {name}"
                continue
            # In the sentence of the check, or in the comment before it.
            at = text.index(start)
            around = text[at:at + 400] if file.endswith(".py") else text[text.rindex("\n", 0, at) + 1:at]
            if row not in around:
                yield f"{row}: {file}: {name} does not name it"


found = list(faults())
print("\n".join(found) or f"{len(ROWS)} rows, each with a check")
sys.exit(1 if found else 0)
