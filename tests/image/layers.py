# SPDX-License-Identifier: Apache-2.0
"""Layers and OCI layouts, made by hand: also such as nobody should make."""
import gzip
import hashlib
import io
import json
import pathlib
import tarfile


class Layer:
    """A tar in the making."""

    def __init__(self):
        self.out = io.BytesIO()
        self.tar = tarfile.open(fileobj=self.out, mode="w", format=tarfile.PAX_FORMAT)

    def add(self, name, data=b"", kind=tarfile.REGTYPE, target="", mode=0o644, size=None, **fields):
        about = tarfile.TarInfo(name)
        about.type, about.linkname, about.mode = kind, target, mode
        about.size = len(data) if size is None else size
        for key, value in fields.items():
            setattr(about, key, value)
        self.tar.addfile(about, io.BytesIO(data) if data else None)
        return self

    def directory(self, name, mode=0o755, **fields):
        return self.add(name, kind=tarfile.DIRTYPE, mode=mode, **fields)

    def link(self, name, target):
        return self.add(name, kind=tarfile.SYMTYPE, target=target, mode=0o777)

    def hard(self, name, target):
        return self.add(name, kind=tarfile.LNKTYPE, target=target)

    def bytes(self):
        self.tar.close()
        return self.out.getvalue()


def digest_of(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def layout(place, layers, config=None, tag="latest"):
    """An OCI layout of these layers, each the bytes of a tar, compressed; its path as skopeo spells it."""
    place = pathlib.Path(place)
    blobs = place / "blobs/sha256"
    blobs.mkdir(parents=True)

    def blob(data, media_type):
        (blobs / digest_of(data)[7:]).write_bytes(data)
        return {"mediaType": media_type, "digest": digest_of(data), "size": len(data)}
    packed = [blob(gzip.compress(layer, mtime=0), "application/vnd.oci.image.layer.v1.tar+gzip") for layer in layers]
    about = {"architecture": "amd64", "os": "linux", "config": config or {}, "rootfs": {"type": "layers", "diff_ids": [digest_of(layer) for layer in layers]}}
    about = blob(json.dumps(about).encode(), "application/vnd.oci.image.config.v1+json")
    manifest = blob(json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": about, "layers": packed}).encode(),
                    "application/vnd.oci.image.manifest.v1+json")
    (place / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [{**manifest, "annotations": {"org.opencontainers.image.ref.name": tag}}]}))
    (place / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}')
    for path in (place, *place.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return f"oci:{place}:{tag}"


def small_root(layer=None):
    """Programs of this host and their libraries, as the tar of a root."""
    import subprocess
    import re
    layer = layer or Layer()
    for name in ("usr", "usr/bin", "usr/lib", "usr/lib64", "etc", "tmp", "var", "var/tmp"):
        layer.directory(name, mode=0o1777 if name.endswith("tmp") else 0o755)
    for name in ("bin", "lib", "lib64"):
        layer.link(name, f"usr/{name}")
    seen = set()
    for program in ("/usr/bin/cat", "/usr/bin/ls", "/usr/bin/env", "/usr/bin/stat", "/usr/bin/id", "/bin/sh", "/usr/bin/touch"):
        said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for file in [program, *re.findall(r"(/\S+) \(0x", said)]:
            place = str(pathlib.Path(pathlib.Path(file).parent.resolve(), pathlib.Path(file).name)).lstrip("/")
            if place in seen:
                continue
            for parent in reversed(pathlib.PurePath(place).parents):
                if str(parent) not in (".", "usr", "usr/bin", "usr/lib", "usr/lib64") and str(parent) not in seen:
                    layer.directory(str(parent))
                    seen.add(str(parent))
            seen.add(place)
            layer.add(place, pathlib.Path(file).read_bytes(), mode=0o755)
    layer.add("etc/passwd", b"root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n")
    return layer
