# SPDX-License-Identifier: Apache-2.0
"""What the servers of the test internet have to offer: certificates of a test CA, a repository, packages for pip, npm and apt."""
import base64
import gzip
import hashlib
import io
import json
import os
import pathlib
import subprocess
import tarfile
import zipfile

MARK = "hello from the test internet\n"


def quietly(*words, **how):
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, **how)
    if done.returncode != 0:
        raise RuntimeError(f"{words[0]}: {done.stderr.strip()[-400:]}")
    return done.stdout


class Certificates:
    """A test CA, and leaves of it: a good one for all names, and some that must not be believed."""

    def __init__(self, directory, names):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir()
        # A configuration of its own: the machine's may say anything, or be missing.
        self.path("openssl.cnf").write_text("[req]\ndistinguished_name = name\n[name]\n")
        self.how = {"env": {**os.environ, "OPENSSL_CONF": str(self.path("openssl.cnf"))}}
        self.ca, self.ca_key = self.path("ca.crt"), self.path("ca.key")
        quietly("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 30, "-subj",
                "/CN=Cordon test CA", "-keyout", self.ca_key, "-out", self.ca, "-addext", "basicConstraints=critical,CA:TRUE",
                "-addext", "keyUsage=critical,keyCertSign,cRLSign", **self.how)
        self.good = self.leaf("good", names)
        self.wrong_name = self.leaf("wrong", ["other.example.com"])
        self.expired = self.leaf("expired", names, days=-1)
        self.self_signed = self.path("self.crt"), self.path("self.key")
        quietly("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 30, "-subj",
                "/CN=nobody", "-keyout", self.self_signed[1], "-out", self.self_signed[0], "-addext",
                "subjectAltName=" + ",".join(f"DNS:{name}" for name in names), **self.how)

    def path(self, name):
        return self.directory / name

    def leaf(self, name, names, days=20):
        certificate, key, request, more = (self.path(f"{name}.{end}") for end in ("crt", "key", "csr", "ext"))
        more.write_text("subjectAltName=" + ",".join(f"DNS:{each}" for each in names) + "\nbasicConstraints=CA:FALSE\n")
        quietly("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={names[0]}",
                "-keyout", key, "-out", request, **self.how)
        quietly("openssl", "x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.ca_key, "-CAcreateserial", "-days", days,
                "-extfile", more, "-out", certificate, **self.how)
        return certificate, key


def git_repository(root):
    """A bare repository with one commit, open for pushes."""
    source, bare = root / "source", root / "git" / "demo.git"
    bare.parent.mkdir()
    quietly("git", "init", "-q", "-b", "main", source)
    (source / "README").write_text(MARK)
    who = ["-c", "user.name=tester", "-c", "user.email=tester@example.com", "-C", source]
    quietly("git", *who, "add", "README")
    quietly("git", *who, "commit", "-q", "-m", "First")
    quietly("git", "clone", "-q", "--bare", source, bare)
    quietly("git", "-C", bare, "config", "http.receivepack", "true")
    return bare


def python_index(root):
    """A simple index with one wheel."""
    name = "cordon_demo-1.0-py3-none-any.whl"
    directory = root / "simple" / "cordon-demo"
    directory.mkdir(parents=True)
    files = {"cordon_demo.py": f"MARK = {MARK!r}\n", "cordon_demo-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: cordon-demo\nVersion: 1.0\n",
             "cordon_demo-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    files["cordon_demo-1.0.dist-info/RECORD"] = "".join(f"{path},,\n" for path in files)
    with zipfile.ZipFile(directory / name, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    digest = hashlib.sha256((directory / name).read_bytes()).hexdigest()
    (directory / "index.html").write_text(f'<!DOCTYPE html><html><body><a href="{name}#sha256={digest}">{name}</a></body></html>\n')


def node_registry(root, host):
    """A registry with one package."""
    package = json.dumps({"name": "cordon-demo", "version": "1.0.0", "main": "index.js"}).encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, data in (("package/package.json", package), ("package/index.js", f"module.exports = {json.dumps(MARK)};\n".encode())):
            about = tarfile.TarInfo(name)
            about.size = len(data)
            archive.addfile(about, io.BytesIO(data))
    root.mkdir()
    data = packed.getvalue()
    (root / "cordon-demo-1.0.0.tgz").write_bytes(data)
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
    version = {"name": "cordon-demo", "version": "1.0.0", "main": "index.js",
               "dist": {"tarball": f"https://{host}/cordon-demo-1.0.0.tgz", "integrity": integrity, "shasum": hashlib.sha1(data).hexdigest()}}
    (root / "cordon-demo").write_text(json.dumps({"name": "cordon-demo", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}))


def debian_archive(root):
    """A flat archive with one package, unsigned."""
    tree = root / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "usr/share/cordon-demo").mkdir(parents=True)
    (tree / "usr/share/cordon-demo/mark").write_text(MARK)
    fields = "Package: cordon-demo\nVersion: 1.0\nArchitecture: all\nMaintainer: tester <tester@example.com>\nDescription: a demonstration\n"
    (tree / "DEBIAN/control").write_text(fields)
    archive = root / "archive"
    archive.mkdir()
    package = archive / "cordon-demo_1.0_all.deb"
    quietly("dpkg-deb", "--root-owner-group", "-b", tree, package)
    data = package.read_bytes()
    text = fields + f"Filename: debian/{package.name}\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n\n"
    listed = []
    for name, content in (("Packages", text.encode()), ("Packages.gz", gzip.compress(text.encode(), mtime=0))):
        (archive / name).write_bytes(content)
        listed.append(f" {hashlib.sha256(content).hexdigest()} {len(content)} {name}\n")
    date = "Sun, 01 Jan 2023 00:00:00 UTC"
    (archive / "Release").write_text(f"Origin: test\nSuite: stable\nCodename: test\nDate: {date}\nArchitectures: all amd64\nSHA256:\n"
                                     + "".join(listed))
    return archive


def files(root):
    root.mkdir()
    (root / "index.html").write_text(MARK)
    (root / "hello").write_text(MARK)
    with open(root / "large", "wb") as file:
        file.write(os.urandom(1 << 20) * 8)
