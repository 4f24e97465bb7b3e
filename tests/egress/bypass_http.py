# SPDX-License-Identifier: Apache-2.0
"""Of the corpus: requests at an origin that believes everything, in the clear and inside of a judged TLS connection. A wrong one's token
must never be heard there."""
import names
from bypass_words import ECHO, PATH, request, text
from wire import extension, hello, records, server_name


def http_heads(tls=False):
    token = PATH
    scheme, port, other_scheme, other_port = ("https", 443, "http", 80) if tls else ("http", 80, "https", 443)
    hosts = ["evil.example.net", f"{ECHO}.evil.example.net", f"evil{ECHO}", f"x.{ECHO}", "example.com", "echo.example.co", "front.example.com",
             "127.0.0.1", "169.254.169.254",
             names.PEERS[ECHO], "localhost", "[::1]", "0x7f.1", "2130706433", f"{ECHO}@evil.example.net", f"evil.example.net@{ECHO}",
             f"user:pass@{ECHO}", f"{ECHO}:{other_port}", f"{ECHO}:8080",
             f"{ECHO}:0", f"{ECHO}:99999", f"{ECHO}:{port}:{port}", f"{ECHO}:", f"{ECHO}:+{port}", f"{ECHO} evil.example.net",
             f"{ECHO},evil.example.net", f"{ECHO}/", f"{ECHO}/x",
             f"{ECHO}#x", f"{ECHO}?x", f"{ECHO}\\x", f"{ECHO}%00", f"{ECHO}%20", f"{ECHO}%2e", "echo%2eexample.com", f"{ECHO}\0",
             f"{ECHO}\0.evil.example.net", f"evil.example.net\0{ECHO}",
             f"{ECHO}\x0b", f"{ECHO}\x7f", f"{ECHO}\xa0", f"ech\xf6.example.com", "", " ", ".", "*", "*.example.com", "-", "_", "a" * 64
             + ".example.com", "a" * 300,
             f"http://{ECHO}", f"//{ECHO}", f"{ECHO};x", f"'{ECHO}'", f'"{ECHO}"', f"<{ECHO}>", f"({ECHO})", "echo..example.com", ".echo.example.com",
             "echo.example.com.."]
    for host in hosts:
        yield head(f"Host {host[:50]!r}", request(token, host), arrives=True, tls=tls)
    bad = {
        "no Host": f"GET {token} HTTP/1.1\r\n\r\n", "no Host, 1.0": f"GET {token} HTTP/1.0\r\n\r\n", "0.9": f"GET {token}\r\n",
        "two Hosts, granted first": request(token, ECHO, "Host: evil.example.net\r\n"),
        "two Hosts, granted last": request(token, "evil.example.net", f"Host: {ECHO}\r\n"),
        "the same Host twice": request(token, ECHO, f"Host: {ECHO}\r\n"),
        "Host with a space before the colon": f"GET {token} HTTP/1.1\r\nHost : {ECHO}\r\n\r\n",
        "Host folded": f"GET {token} HTTP/1.1\r\nHost:\r\n {ECHO}\r\n\r\n",
        "first line folded": f"GET {token} HTTP/1.1\r\n Host: {ECHO}\r\n\r\n",
        "absolute, other host": request(f"{scheme}://evil.example.net{token}", ECHO),
        "absolute, other Host": request(f"{scheme}://{ECHO}{token}", "evil.example.net"),
        "absolute, other port": request(f"{scheme}://{ECHO}:8080{token}", ECHO),
        "absolute, other scheme": request(f"{other_scheme}://{ECHO}{token}", ECHO), "absolute, ftp": request(f"ftp://{ECHO}{token}", ECHO),
        "absolute, file": request(f"file:///etc/passwd{token}", ECHO),
        "absolute, user": request(f"{scheme}://user@{ECHO}{token}", ECHO), "absolute, literal": request(f"{scheme}://127.0.0.1{token}", ECHO),
        "absolute, spelled": request(f"{scheme}://{ECHO}\\@evil.example.net{token}", ECHO),
        "network path": request(f"//evil.example.net{token}", "evil.example.net"),
        "connect": request("evil.example.net:443", "evil.example.net:443", f"X: {token}\r\n", "CONNECT"),
        "connect, granted": request(f"{ECHO}:{port}", ECHO, f"X: {token}\r\n", "CONNECT"),
        "connect, loopback": request("127.0.0.1:8080", ECHO, f"X: {token}\r\n", "CONNECT"), "trace": request(token, ECHO, "", "TRACE"),
        "track": request(token, ECHO, "", "TRACK"), "asterisk with GET": request("*", ECHO, f"X: {token}\r\n"),
        "lower-case method": request(token, ECHO, "", "get"),
        "method with NUL": request(token, ECHO, "", "GE\0T"), "method of 300": request(token, ECHO, "", "G" * 300),
        "no path": request("", ECHO, f"X: {token}\r\n"),
        "space in the path": request(f"{token} x", ECHO), "tab in the line": f"GET\t{token}\tHTTP/1.1\r\nHost: {ECHO}\r\n\r\n",
        "two spaces": f"GET  {token} HTTP/1.1\r\nHost: {ECHO}\r\n\r\n",
        "NUL in the path": request(f"{token}\0", ECHO), "bytes above 127 in the path": request(f"{token}\xe4", ECHO),
        "fragment": request(f"{token}#x", ECHO), "path without a slash": request(token[1:], ECHO),
        "version 1.2": request(token, ECHO, version="HTTP/1.2"), "version 2.0": request(token, ECHO, version="HTTP/2.0"),
        "version 1": request(token, ECHO, version="HTTP/1"),
        "version 01.1": request(token, ECHO, version="HTTP/01.1"), "version spelled": request(token, ECHO, version="http/1.1"),
        "version of another": request(token, ECHO, version="ICY/1.1"),
        "bare LF": request(token, ECHO).replace("\r\n", "\n"), "bare CR": request(token, ECHO).replace("\r\n", "\r"),
        "LF in a header": request(token, ECHO, "X: a\nHost: evil.example.net\r\n"),
        "CR in a header": request(token, ECHO, "X: a\rHost: evil.example.net\r\n"), "NUL in a header": request(token, ECHO, "X: a\0b\r\n"),
        "NUL in a name": request(token, ECHO, "X\0: a\r\n"),
        "space in a name": request(token, ECHO, "X Y: a\r\n"), "empty name": request(token, ECHO, ": a\r\n"),
        "no colon": request(token, ECHO, "X\r\n"), "folded": request(token, ECHO, "X: a\r\n b\r\n"),
        "colon before": request(token, ECHO, ":X: a\r\n"), "300 headers": request(token, ECHO, "".join(f"X{n}: a\r\n" for n in range(300))),
        "a head of 100 KiB": request(token, ECHO, "X: " + "a" * 100_000 + "\r\n"),
        "a line of 100 KiB": request(token + "a" * 100_000, ECHO),
        "upgrade h2c": request("/up", ECHO, f"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c, {token[1:]}\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n"),
        "upgrade to anything": request("/up", ECHO, f"Connection: Upgrade\r\nUpgrade: {token[1:]}\r\n"),
        "http2": f"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n{token}", "not http": f"{token} hello there\r\n\r\n",
        "tls instead": records(hello(server_name(ECHO.encode()), extension(0x7777, token.encode()))).decode("latin-1"),
        "ssh instead": f"SSH-2.0-{token}\r\n", "socks instead": "\5\1\0" + token,
        "redis instead": f"*1\r\n$6\r\n{token}\r\n", "smtp instead": f"EHLO {token}\r\n", "proxy line": f"PROXY TCP4 1.1.1.1 2.2.2.2 1 {token}\r\n"
        + request("/", ECHO),
    }
    for note, data in bad.items():
        yield head(note, data, arrives=note not in ("bare CR",), tls=tls)


def http_smuggling(tls=False):
    token, scheme = PATH, "https" if tls else "http"
    inner = request(token, ECHO)
    evil = request(token, "evil.example.net")

    def post(fields, body, path="/first"):
        return request(path, ECHO, fields, "POST", body=body)
    bad = {
        "CL.TE": post(f"Content-Length: {5 + len(inner)}\r\nTransfer-Encoding: chunked\r\n", f"0\r\n\r\n{inner}"),
        "TE.CL": post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", f"{len(inner):x}\r\n{inner}\r\n0\r\n\r\n"),
        "CL, CL": post(f"Content-Length: 0\r\nContent-Length: {len(inner)}\r\n", inner),
        "CL list": post(f"Content-Length: 0, {len(inner)}\r\n", inner),
        "CL same list": post(f"Content-Length: {len(inner)}, {len(inner)}\r\n", inner),
        "CL +": post(f"Content-Length: +{len(inner)}\r\n", inner), "CL -": post("Content-Length: -1\r\n", inner),
        "CL hex": post(f"Content-Length: {len(inner):#x}\r\n", inner), "CL empty": post("Content-Length:\r\n", inner),
        "CL space": post("Content-Length: 1 0\r\n", inner), "CL exponent": post("Content-Length: 1e1\r\n", inner),
        "CL huge": post("Content-Length: 99999999999999999999\r\n", inner), "CL octal with letters": post("Content-Length: 0o7\r\n", inner),
        "CL comma": post("Content-Length: ,0\r\n", inner), "CL NUL": post("Content-Length: 0\0\r\n", inner),
        "CL tab inside": post("Content-Length: 1\t0\r\n", inner),
        "CL space before the colon": post(f"Content-Length : {len(inner)}\r\n", inner),
        "CL underscore beside": post("Content_Length: 0\r\nContent-Length: 1\r\nContent-Length: 2\r\n", inner),
        "TE twice": post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", f"0\r\n\r\n{inner}"),
        "TE.TE": post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", f"0\r\n\r\n{inner}"),
        "TE list": post("Transfer-Encoding: gzip, chunked\r\n", f"0\r\n\r\n{inner}"),
        "TE last not chunked": post("Transfer-Encoding: chunked, gzip\r\n", f"0\r\n\r\n{inner}"),
        "TE identity": post("Transfer-Encoding: identity\r\n", inner),
        "TE xchunked": post("Transfer-Encoding: xchunked\r\n", f"0\r\n\r\n{inner}"),
        "TE quoted": post('Transfer-Encoding: "chunked"\r\n', f"0\r\n\r\n{inner}"),
        "TE comma": post("Transfer-Encoding: ,chunked\r\n", f"0\r\n\r\n{inner}"),
        "TE with a parameter": post("Transfer-Encoding: chunked;q=1\r\n", f"0\r\n\r\n{inner}"),
        "TE space before the colon": post("Transfer-Encoding : chunked\r\n", f"0\r\n\r\n{inner}"),
        "TE vertical tab": post("Transfer-Encoding: \x0bchunked\r\n", f"0\r\n\r\n{inner}"),
        "TE NUL": post("Transfer-Encoding: chunked\0\r\n", f"0\r\n\r\n{inner}"),
        "TE folded": post("Transfer-Encoding:\r\n chunked\r\n", f"0\r\n\r\n{inner}"),
        "TE by LF": post("X: a\nTransfer-Encoding: chunked\r\n", f"0\r\n\r\n{inner}"),
        "TE in 1.0": request("/first", ECHO, "Transfer-Encoding: chunked\r\n", "POST", "HTTP/1.0", f"0\r\n\r\n{inner}"),
        "TE empty": post("Transfer-Encoding:\r\n", inner),
        "chunk size with a sign": post("Transfer-Encoding: chunked\r\n", f"+0\r\n\r\n{inner}"),
        "chunk size in hex with 0x": post("Transfer-Encoding: chunked\r\n", f"0x0\r\n\r\n{inner}"),
        "chunk size with an underscore": post("Transfer-Encoding: chunked\r\n", f"0_0\r\n\r\n{inner}"),
        "chunk size empty": post("Transfer-Encoding: chunked\r\n", f"\r\n\r\n{inner}"),
        "chunk size of 20 digits": post("Transfer-Encoding: chunked\r\n", f"{'f' * 20}\r\n{inner}"),
        "chunk size with a space": post("Transfer-Encoding: chunked\r\n", f"0 \r\n\r\n{inner}".replace("0 ", "0 1")),
        "chunk by LF": post("Transfer-Encoding: chunked\r\n", f"0\n\n{inner}"),
        "chunk without its end": post("Transfer-Encoding: chunked\r\n", f"1\r\naX0\r\n\r\n{inner}"),
        "chunk extension with LF": post("Transfer-Encoding: chunked\r\n", f"0;a\n\r\n\r\n{inner}"),
        "chunk extension of 100 KiB": post("Transfer-Encoding: chunked\r\n", f"1;{'a' * 100_000}\r\na\r\n0\r\n\r\n{inner}"),
        "chunk negative": post("Transfer-Encoding: chunked\r\n", f"-1\r\n\r\n{inner}"),
        "pipelined to a refused host": request("/first", ECHO) + evil, "keep-alive to a refused host": post("Content-Length: 0\r\n", "") + evil,
        "body, then a refused host": post("Content-Length: 2\r\n", "ab") + evil,
        "chunked, then a refused host": post("Transfer-Encoding: chunked\r\n", "0\r\n\r\n") + evil,
        "GET with a body, then a refused host": request("/first", ECHO, "Content-Length: 2\r\n", body="ab") + evil,
        "pipelined connect": request("/first", ECHO) + request("evil.example.net:443", ECHO, f"X: {token}\r\n", "CONNECT"),
        "pipelined, no Host": request("/first", ECHO) + f"GET {token} HTTP/1.1\r\n\r\n",
        "pipelined, absolute": request("/first", ECHO) + request(f"{scheme}://evil.example.net{token}", ECHO),
        "pipelined, another version": request("/first", ECHO) + request(token, ECHO, version="HTTP/3.0"),
        "pipelined trace": request("/first", ECHO) + request(token, ECHO, method="TRACE"),
        "close named, then more": request("/first", ECHO, "Connection: close\r\n") + evil,
    }
    for note, data in bad.items():
        yield head(note, data, "smuggling", arrives=True, tls=tls)


def head(note, data, kind="heads", arrives=False, tls=False):
    how = dict(cls=f"https {kind}", act="tls", sni=ECHO, port=443) if tls else dict(cls=f"http {kind}", act="stream", port=80)
    return dict(to=ECHO, pieces=[text(data)], shut=False, patience=1.0, want="unheard", bare="arrives" if arrives else "any", note=note, **how)


def right_heads(tls=False):
    scheme, port = ("https", 443) if tls else ("http", 80)
    for note, data in {"plain": request(PATH, ECHO, "Connection: close\r\n"), "port named": request(PATH, f"{ECHO}:{port}", "Connection: close\r\n"),
                       "upper case": request(PATH, ECHO.upper(), "Connection: close\r\n"),
                       "post": request(PATH, ECHO, "Connection: close\r\nContent-Length: 2\r\n", "POST", body="ab"),
                       "chunked": request(PATH, ECHO, "Connection: close\r\nTransfer-Encoding: chunked\r\n", "POST", body="2\r\nab\r\n0\r\n\r\n"),
                       "absolute": request(f"{scheme}://{ECHO}{PATH}", ECHO, "Connection: close\r\n"), "two in a row": request("/first", ECHO)
                       + request(PATH, ECHO, "Connection: close\r\n")}.items():
        yield {**head(note, data, tls=tls), "cls": f"right {scheme}", "want": "heard", "bare": "arrives"}


def fronting():
    """On the judged host's address: another name in TLS, with either in Host; and the right name in TLS and another in Host, at once or later."""
    for sni, host in (("front.example.com", ECHO), ("front.example.com", "front.example.com"), ("evil.example.net", ECHO), (f"x.{ECHO}", ECHO),
                      ("example.com", ECHO), (None, ECHO)):
        yield {**head(f"{sni} in TLS, {host} in Host", request(PATH, host, "Connection: close\r\n"), "fronting", True, True), "sni": sni}
    for host in ("front.example.com", "evil.example.net", names.PEERS[ECHO], "169.254.169.254", f"{ECHO}.evil.example.net"):
        wrong = request(PATH, host)
        yield head(f"{host} in Host", wrong, "fronting", True, True)
        yield head(f"{host} in Host of the second", request("/first", ECHO) + wrong, "fronting", True, True)
        yield {**head(f"{host} in Host of the second, later", wrong, "fronting", True, True), "pieces": [text(request("/first", ECHO)), text(wrong)]}
        yield head(f"{host} in an absolute one", request(f"https://{host}{PATH}", host), "fronting", True, True)
        yield head(f"{host} in a forwarding header", request("/first", ECHO, f"X-Forwarded-Host: {host}\r\n") + wrong, "fronting", True, True)


def https_heads():
    return http_heads(tls=True)


def https_smuggling():
    return http_smuggling(tls=True)


def right_https_heads():
    return right_heads(tls=True)
