# SPDX-License-Identifier: Apache-2.0
"""What a guest boots from: Debian's own kernel, a small Debian as its root, and a disk with our programs and tests.

All of it lies below build/vm. The kernel and the root are made once and used until their recipe changes; the disk of programs is
made anew for each boot, which is a matter of a second."""
import hashlib
import inspect
import os
import pathlib
import re
import shutil
import struct
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
PLACE = SOURCE / "build/vm"
KERNEL_PACKAGE = "linux-image-cloud-amd64"
GUEST_PACKAGES = ("python3", "uidmap", "mount", "iproute2", "e2fsprogs", "kmod", "busybox-static", "procps", "strace", "nftables", "libc-ares2")
# In the order in which they are loaded; what they need comes before them.
FIRST_MODULES = ("virtio_mmio", "virtio_blk", "virtio_console", "virtio_rng")
PROGRAMS = ("cordon", "cordon-launcher", "cordon-init", "cordon-egress", "cordon-broker", "cordon-notary", "cordon-enter", "cordon-hostile-init", "probe", "mask",
            "state", "service_root_test")
TESTS = ("callers", "containment", "limits", "filter/golden")


def run(*words, **how):
    """To its end; what it said is shown where it fails."""
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
    if done.returncode != 0:
        raise SystemExit(f"./dev vm: {' '.join(str(word) for word in words)}: exit {done.returncode}\n{done.stdout[-2000:]}")
    return done.stdout


def fetch_kernel():
    """The package that the metapackage names today, unpacked; gives the directory."""
    depends = run("apt-cache", "depends", KERNEL_PACKAGE)
    found = re.search(r"Depends: (linux-image-\S+)", depends)
    if found is None:
        raise SystemExit(f"./dev vm: {KERNEL_PACKAGE} is no package here; try: apt-get update")
    directory = PLACE / found[1]
    if (directory / "vmlinux").exists():
        return directory
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    run("apt-get", "download", found[1], cwd=directory)
    run("dpkg-deb", "-x", next(directory.glob("*.deb")), directory)
    unpack_elf(next(directory.glob("boot/vmlinuz-*")), directory / "vmlinux")
    return directory


def unpack_elf(image, target):
    """The ELF file within a bzImage: its LZ4 payload. It boots half a second sooner than the image under emulation."""
    data = image.read_bytes()
    setup_sectors = data[0x1F1] or 4
    offset, length = struct.unpack_from("<II", data, 0x248)
    begin = (setup_sectors + 1) * 512 + offset
    payload = data[begin:begin + length - 4]        # the last four are the size of what is packed
    if payload[:4] != b"\x02\x21\x4c\x18":
        raise SystemExit(f"./dev vm: {image.name} is not packed with LZ4")
    done = subprocess.run(["lz4", "-dc"], input=payload, stdout=subprocess.PIPE, check=True)
    part = target.with_suffix(".part")
    part.write_bytes(done.stdout)
    part.rename(target)


def recipe(kernel):
    words = "\n".join([kernel.name, *GUEST_PACKAGES, *FIRST_MODULES, (HERE / "initramfs.sh").read_text(), inspect.getsource(build_root),
                       inspect.getsource(pack_first)])
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def build_root(kernel):
    """The guest's root as an ext4 image and its initramfs, by their recipe; gives both paths."""
    directory = PLACE / f"root-{recipe(kernel)}"
    image, first = directory / "root.ext4", directory / "initramfs"
    if first.exists():
        return image, first
    for old in PLACE.glob("root-*"):
        shutil.rmtree(old)
    directory.mkdir()
    tree = directory / "tree"
    print("./dev vm: making the guest's root, a minute or two", flush=True)
    run("mmdebstrap", "--mode=root", "--variant=essential", f"--include={','.join(GUEST_PACKAGES)}", "bookworm", tree)
    shutil.copytree(kernel / "lib/modules", tree / "usr/lib/modules")
    version = next((kernel / "lib/modules").iterdir()).name
    run("chroot", tree, "depmod", version)
    (tree / "cordon").mkdir()
    (tree / "etc/hostname").write_text("stock-kernel\n")
    pack_first(tree, version, directory / "first", first.with_suffix(".part"))
    run("mkfs.ext4", "-q", "-F", "-d", tree, image, "3G")
    shutil.rmtree(tree)
    first.with_suffix(".part").rename(first)
    return image, first


def pack_first(tree, version, stage, target):
    """The initramfs: busybox, the modules of the guest's disks, and a script that mounts the root."""
    modules = tree / "usr/lib/modules" / version
    needs = {}
    for line in (modules / "modules.dep").read_text().splitlines():
        path, _, rest = line.partition(":")
        needs[pathlib.Path(path).stem.replace("-", "_")] = [path, *rest.split()]
    for name in ("bin", "modules", "dev", "proc", "root"):
        (stage / name).mkdir(parents=True)
    shutil.copy(tree / "bin/busybox", stage / "bin/busybox")
    order = []
    for name in FIRST_MODULES:
        order += [path for path in reversed(needs.get(name, [])) if path not in order]
    for number, path in enumerate(order):
        shutil.copy(modules / path, stage / "modules" / f"{number:02}-{pathlib.Path(path).name}")
    shutil.copy(HERE / "initramfs.sh", stage / "init")
    (stage / "init").chmod(0o755)
    names = "\n".join(str(path.relative_to(stage)) for path in [stage, *sorted(stage.rglob("*"))])
    with target.open("wb") as out:
        subprocess.run([str(stage / "bin/busybox"), "cpio", "-o", "-H", "newc"], input=names.encode(), stdout=out, stderr=subprocess.DEVNULL,
                       cwd=stage, check=True)


def pack_programs(binaries, job):
    """The disk that is seen as /cordon inside: programs of this build tree, tests, the init script and the job."""
    stage, image = PLACE / "programs", PLACE / "programs.ext4"
    shutil.rmtree(stage, ignore_errors=True)
    (stage / "bin").mkdir(parents=True)
    for name in PROGRAMS:
        found = binaries / "bin" / name if (binaries / "bin" / name).exists() else binaries / "tests/service" / name
        shutil.copy(found, stage / "bin" / name)
    for name in TESTS:
        shutil.copytree(SOURCE / "tests" / name, stage / "tests" / name, ignore=shutil.ignore_patterns("__pycache__", "*.cc"))
    shutil.copy(HERE / "init.sh", stage / "init.sh")
    shutil.copy(HERE / "guest.py", stage / "guest.py")
    (stage / "job").write_text(job)
    used = sum(path.stat().st_size for path in stage.rglob("*") if path.is_file())
    image.unlink(missing_ok=True)
    run("mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-d", stage, image, f"{used // (1 << 20) * 5 // 4 + 16}M")
    return image


def tell_missing():
    """The packages that this needs and that are not there, told with the way to get them."""
    wanted = {"qemu-system-x86_64": "qemu-system-x86", "mmdebstrap": "mmdebstrap", "lz4": "lz4", "mkfs.ext4": "e2fsprogs"}
    missing = [package for program, package in wanted.items() if shutil.which(program) is None]
    if missing:
        raise SystemExit(f"./dev vm: not installed: {' '.join(missing)}; run: ./dev vm setup")
    if os.geteuid() != 0:
        raise SystemExit("./dev vm: the guest's root is made with the owners of its files, which needs root: sudo ./dev vm")
