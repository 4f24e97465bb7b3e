# SPDX-License-Identifier: Apache-2.0
"""Every route of api/openapi.yaml is asked by both SDKs, or stands below with the reason why not: `routes.py`. Needs nothing but Python."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
SOURCES = {"python": ("sdk/python/cordon", "*.py"), "typescript": ("sdk/typescript/src", "*.ts")}
STEPS = {"departures": (("POST", ""), ("POST", "/{id}/check"), ("GET", "/{id}/tree"), ("POST", "/{id}/end"), ("DELETE", "/{id}")),
         "arrivals": (("POST", ""), ("PUT", "/{id}/tree"), ("POST", "/{id}/check"), ("POST", "/{id}/ready"), ("POST", "/{id}/settle"), ("DELETE", "/{id}"))}
NOT_COVERED = {
    **{(method, f"/v1/node/{way}{step}"): "a step of a sandbox's move in a fleet, for gateways" for way, steps in STEPS.items() for method, step in steps},
    ("GET", "/v1/node/census"): "for the index of a cell of a fleet, and nobody else",
    ("GET", "/v1/sandboxes/{id}/processes/{process}/attach"):
        "a WebSocket, which neither standard library has: output, input and signal are there one by one; the size of a terminal cannot be changed",
}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
# Both SDKs name a route as the description does, behind its method; of a port the caller says the method.
CALL = re.compile(r"""(?:["'](%s)["']|\bmethod),\s*["'](/[^"']+)["']""" % "|".join(METHODS))


def described():
    """By its indentation, as the unit test of the routes reads it: paths have two spaces, methods four."""
    found, path = set(), ""
    for line in (ROOT / "api/openapi.yaml").read_text().partition("\ncomponents:")[0].splitlines():
        if line.startswith("  /"):
            path = line.strip().rstrip(":")
        elif path and re.fullmatch(r"    [a-z]+:", line):
            found.add((line.strip().rstrip(":").upper(), path))
    return found


def asked(language):
    """What the sources of an SDK name."""
    place, names = SOURCES[language]
    text = "".join(file.read_text() for file in sorted((ROOT / place).glob(names)))
    return {(each, path) for method, path in CALL.findall(text) for each in ((method,) if method else METHODS)}


def faults():
    wanted = described()
    if len(wanted) < 40:
        yield f"api/openapi.yaml has {len(wanted)} routes: it was not understood"
    for language in SOURCES:
        has = asked(language)
        yield from (f"{language}: {method} {path} is not asked" for method, path in sorted(wanted - has - set(NOT_COVERED)))
        yield from (f"{language}: {method} {path} is not described" for method, path in sorted(has - wanted))
        yield from (f"{language}: {method} {path} is asked although it is listed here" for method, path in sorted(has & set(NOT_COVERED)))
    yield from (f"{method} {path} is listed here and not described" for method, path in sorted(set(NOT_COVERED) - wanted))


if __name__ == "__main__":
    found = list(faults())
    print("\n".join(found) or f"{len(described())} routes, {len(NOT_COVERED)} not covered")
    sys.exit(1 if found else 0)
