# SPDX-License-Identifier: Apache-2.0
"""What stands in the memory, the environment, the arguments and the open files of a process, read by root."""
import array
import os
import pathlib

PAGE, STEP = 4096, 4096      # bytes; pages that are looked at together
# Beyond is only what a sanitizer has reserved for its notes about memory: a byte there is no byte of a program.
LARGEST = 1 << 32
PRESENT = 1 << 63 | 1 << 62      # in memory, or swapped out


def regions(pid):
    """Where memory is that can be read and was written by somebody, and what it is called."""
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        where, rights, _, _, inode, *name = line.split(None, 5)
        begin, end = (int(part, 16) for part in where.split("-"))
        if rights[0] == "r" and end - begin <= LARGEST and (rights[1] == "w" or inode == "0") and not name[:1] in (["[vvar]"], ["[vsyscall]"]):
            yield begin, end, name[0] if name else "anonymous"


def present(pagemap, begin, end):
    """The parts that have pages: reading others would give them some."""
    first = None
    for at in range(begin, end, STEP * PAGE):
        pagemap.seek(at // PAGE * 8)
        pages = array.array("Q", pagemap.read(min(STEP, (end - at) // PAGE) * 8))
        if first is None and max(pages, default=0) < 1 << 62:      # quickly: most are empty
            continue
        for number, page in enumerate(pages):
            if page & PRESENT and first is None:
                first = at + number * PAGE
            elif not page & PRESENT and first is not None:
                yield first, at + number * PAGE
                first = None
    if first is not None:
        yield first, end


def in_memory(pid, words):
    """Each word that is there: (word, address, region); and how many bytes were looked at. A piece that cannot be read is none."""
    found, read = [], 0
    with open(f"/proc/{pid}/mem", "rb", 0) as file, open(f"/proc/{pid}/pagemap", "rb", 0) as pagemap:
        for begin, end, name in regions(pid):
            for first, last in present(pagemap, begin, end):
                try:
                    file.seek(first)
                    data = file.read(last - first)
                except OSError:
                    continue
                read += len(data)
                found += [(word, first + data.find(word), name) for word in words if word in data]
    return found, read


def in_proc(pid, words, seen=None):
    """Each word in its environment, arguments, and the files that it has open and that have no name elsewhere: (word, where). Files that
    are among those `seen` are left out, and the others added to them."""
    found, seen = [], set() if seen is None else seen
    paths = [f"/proc/{pid}/{name}" for name in ("environ", "cmdline")]
    for name in os.listdir(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{name}"
        try:
            about = os.stat(path)
            if os.readlink(path).endswith("(deleted)") and os.path.isfile(path) and (about.st_dev, about.st_ino) not in seen:
                seen.add((about.st_dev, about.st_ino))
                paths.append(path)
        except OSError:
            pass
    for path in paths:
        try:
            with open(path, "rb") as file:
                data = file.read(64 << 20)
        except OSError:
            continue
        found += [(word, path) for word in words if word in data]
    return found


def in_files(words, *tops):
    """Each word in the files below: (word, path); how many files were looked at."""
    found, count = [], 0
    for top in tops:
        for base, _, names in os.walk(top):
            for name in names:
                path = pathlib.Path(base, name)
                if path.is_symlink() or not path.is_file():
                    continue
                count += 1
                data = path.read_bytes()
                found += [(word, str(path)) for word in words if word in data]
    return found, count
