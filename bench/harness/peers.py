# SPDX-License-Identifier: Apache-2.0
"""Other sandboxes that are installed, each with the profile that comes nearest to ours, as a command that runs `true`."""
import json
import os
import shutil
import subprocess


def bubblewrap(root):
    """`root`: a directory with usr; None: the host's own programs."""
    usr = root / "usr" if root else "/usr"
    return [shutil.which("bwrap"), "--unshare-all", "--die-with-parent", "--ro-bind", usr, "/usr", "--symlink", "usr/bin", "/bin",
            "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
            "--tmpfs", "/workspace", "--chdir", "/workspace", "/usr/bin/true"]


def oci_bundle(place, root):
    """What `runc spec` writes, on our root, with limits like ours."""
    place.mkdir()
    subprocess.run([shutil.which("runc") or shutil.which("crun"), "spec"], cwd=place, check=True)
    config = json.loads((place / "config.json").read_text())
    config["process"].update(terminal=False, args=["/usr/bin/true"], cwd="/")
    config["root"] = {"path": str(root), "readonly": True}
    # An image has /proc and /dev already; our root has them made by the sandbox.
    for name in ("proc", "dev", "sys"):
        (root / name).mkdir(exist_ok=True)
    config["mounts"] = [mount for mount in config["mounts"] if mount["destination"] != "/sys/fs/cgroup"]
    config["linux"]["resources"] = {"memory": {"limit": 512 << 20}, "pids": {"limit": 128}, "cpu": {"quota": 100_000, "period": 100_000}}
    (place / "config.json").write_text(json.dumps(config))
    return place


def peers(place):
    """{name: words}; an empty place of ours holds bundles."""
    found = {}
    if shutil.which("bwrap"):
        found["bubblewrap"] = bubblewrap(place.root)
    if os.geteuid() == 0 and (shutil.which("runc") or shutil.which("crun")):
        bundle = oci_bundle(place.top / "bundle", place.root)
        # On a host with groups of both versions crun runs only without any.
        ways = {"crun": ["crun"], "crun, no groups": ["crun", "--cgroup-manager=disabled"], "runc": ["runc"]}
        for name, words in ways.items():
            if not shutil.which(words[0]) or name.split(",")[0] in {known.split(",")[0] for known in found}:
                continue
            words = [shutil.which(words[0]), *words[1:], "run", "--bundle", bundle, f"cordon-bench-{os.getpid()}"]
            tried = subprocess.run(words, capture_output=True, text=True)
            if tried.returncode == 0:
                found[name] = words
            else:
                print(f"{name} is left out: {tried.stderr.strip().splitlines()[-1] if tried.stderr else tried.returncode}")
    return found
