# SPDX-License-Identifier: Apache-2.0
"""Of the corpus: names that are granted and lead to the host, and redirects to what is not granted."""
import itertools

import names
from bypass_words import JUDGED, MOVED, request, text

INWARD_HOSTS = [f"{word}.inward.example.com" for word in (*names.INWARD, *names.INWARD6)]
TRICKS = ("flip.example.com", "mixed.example.com", "alias.example.com", "chain.example.com", "round.example.com", "nothing.example.com",
          "broken.example.com", "empty.example.com", "many.example.com", "wrong-id.example.com", "wrong-name.example.com",
          "loop-pointer.example.com")


def rebinding():
    hosts = [*INWARD_HOSTS, *TRICKS]
    reached = {f"{word}.inward.example.com" for word in ("loopback", "loopback-other", "metadata", "ecs", "alibaba", "azure", "oracle", "ten",
                                                         "seventeen-two", "one-nine-two", "shared", "uplink", "doc-2", "any",
                                                         "six-loopback", "six-local", "six-ec2", "six-gce", "six-uplink",
                                                         "six-mapped")} | {"alias.example.com"}
    for name, port in itertools.product(hosts, (80, 8080)):
        for turn in range(8 if name.startswith(("flip", "mixed")) else 1):
            yield dict(cls="rebinding", act="stream", to=name, port=port, pieces=[text(request("/rebound", name, "Connection: close\r\n"))],
                       patience=8.0, want="uninward",
                       bare="arrives" if name in reached and turn == 0 else "any", note=f"{name}:{port} {turn}")


def redirects():
    for (scheme, host), word in itertools.product((("https", MOVED), ("http", MOVED), ("https", JUDGED)), names.TARGETS):
        if word == "good":
            continue
        yield dict(cls="https redirects" if host == JUDGED else "redirects", act="command", command=["curl", "-sSL", "-m", "8", "-w", "\\n%{url_effective} %{http_code}",
                                                            f"{scheme}://{host}/moved/{word}"], want="uninward",
                   bare="arrives" if word in ("metadata", "loopback", "private", "uplink", "stranger", "plain", "decimal", "hex") else "any",
                   note=f"{scheme} {word}")
