# SPDX-License-Identifier: Apache-2.0
"""The corpus of ways past an egress, generated as data: each case is one act of probe.py and what must be seen of it.

    want   refused: no byte of an answer from outside; unanswered: no record in a DNS answer; unheard: the origin never hears its token;
           uninward: nothing of the host answers; unsent: the call fails at once; served, heard: it is a right one, and must work
    bare   arrives: without a sandbox the same act reaches somebody, so that its refusal means something; any: it need not
"""
import names
from bypass_address import direct, literals, ports
from bypass_dns import dns_malformed, dns_names, dns_types
from bypass_http import fronting, http_heads, http_smuggling, https_heads, https_smuggling, right_heads, right_https_heads
from bypass_inward import INWARD_HOSTS, TRICKS, rebinding, redirects
from bypass_sockets import other_sockets
from bypass_tls import right_shapes, shapes
from bypass_words import ECHO, JUDGED, MOVED, QUIET, SHAPES, STUB, text  # noqa: F401

GENERATORS = (dns_names, dns_types, dns_malformed, direct, literals, ports, shapes, right_shapes, http_heads, http_smuggling, right_heads, rebinding,
              https_heads, https_smuggling, right_https_heads, fronting, redirects, other_sockets)
RULES = [f'"{SHAPES}:443"', f'"{QUIET}:443"', f'"{ECHO}:80"', f'"{MOVED}:443"', f'"{MOVED}:80"', '"*.wild.example.org:443"',
         f'{{ host = "{ECHO}", methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] }}', f'{{ host = "{JUDGED}", paths = ["/moved/**"] }}', '"*.inward.example.com:80"', *(f'"{name}:80"' for name in TRICKS),
         '{ host = "*.inward.example.com", port = 8080, protocol = "tcp" }',
         *(f'{{ host = "{name}", port = 8080, protocol = "tcp" }}' for name in TRICKS)]
# Whoever may be dialled or looked up while the corpus runs. Not SHAPES: no case that names it is right.
DIALLED = {names.SITES[QUIET], names.PEERS[ECHO], names.SITES[MOVED], names.SITES[JUDGED]}
ASKED = {QUIET, ECHO, MOVED, JUDGED, *INWARD_HOSTS, *TRICKS, "chain2.example.com", "chain3.example.com", "round2.example.com", "internal.corp.example"}


def cases():
    """The whole corpus, numbered; the token becomes the case's own."""
    made = []
    for generate in GENERATORS:
        made += generate()
    for number, case in enumerate(made):
        case["id"] = f"n{number:04}"
        if "pieces" in case:
            case["pieces"] = [piece.replace(text("nXXXX"), text(case["id"])) for piece in case["pieces"]]
    return made
