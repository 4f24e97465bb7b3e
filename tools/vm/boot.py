# SPDX-License-Identifier: Apache-2.0
"""One boot of a guest under software emulation: its job's output, line by line as it comes, and how it ended."""
import os
import pathlib
import re
import selectors
import signal
import socket
import subprocess
import time

from image import PLACE

MEMORY = "2G"
SILENCE = 900.0         # seconds without a word from the job after which the guest is given up


def host_khz():
    """The rate of the counter that the guest's clock stands on. Debian's kernel measures it against a timer that an emulator on a busy
    host does not keep, and then waits for ever; so it is told."""
    cpu = pathlib.Path("/proc/cpuinfo").read_text()
    return int(float(re.search(r"cpu MHz\s*:\s*([\d.]+)", cpu)[1]) * 1000)


def command(kernel, first, disks, port):
    words = ["qemu-system-x86_64", "-M", "microvm,acpi=on,pit=on,pic=on,rtc=on,isa-serial=on,pcie=off,usb=off", "-accel", "tcg,thread=multi",
             "-cpu", "max", "-m", MEMORY, "-smp", "2", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
             "-kernel", str(kernel / "vmlinux"), "-initrd", str(first),
             "-append", f"console=ttyS0 loglevel=4 panic=-1 reboot=t tsc_early_khz={host_khz()} tsc=reliable nokaslr mitigations=off "
                        "cryptomgr.notests random.trust_cpu=on",
             "-serial", f"file:{PLACE / 'console.log'}",
             "-chardev", f"socket,id=c0,fd={port}", "-device", "virtio-serial-device,max_ports=2",
             "-device", "virtserialport,chardev=c0,nr=1,name=cordon.0", "-object", "rng-builtin,id=r0", "-device", "virtio-rng-device,rng=r0"]
    for number, (path, writable) in enumerate(disks):
        how = "snapshot=on" if writable else "readonly=on"
        words += ["-drive", f"file={path},if=none,id=d{number},format=raw,{how}", "-device", f"virtio-blk-device,drive=d{number}"]
    return words


class Guest:
    """A context: the machine is gone at its end."""

    def __init__(self, kernel, first, disks):
        ours, theirs = socket.socketpair()
        self.port = ours
        environment = {**os.environ, "TMPDIR": str(PLACE)}      # where changes to the root go
        self.begin = time.monotonic()
        self.child = subprocess.Popen(command(kernel, first, disks, theirs.fileno()), pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                                      start_new_session=True, env=environment)
        theirs.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        self.port.close()

    def lines(self):
        """Of the job, until the machine ends or says nothing for too long."""
        rest = b""
        with selectors.DefaultSelector() as wait:
            wait.register(self.port, selectors.EVENT_READ)
            while True:
                if not wait.select(SILENCE):
                    raise SystemExit(f"./dev vm: nothing from the guest for {SILENCE:.0f} s; its console is in {PLACE / 'console.log'}")
                part = self.port.recv(1 << 16)
                if not part:
                    break
                *whole, rest = (rest + part).split(b"\n")
                for line in whole:
                    yield line.decode(errors="replace").rstrip("\r")
        if rest:
            yield rest.decode(errors="replace")
