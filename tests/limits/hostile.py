# SPDX-License-Identifier: Apache-2.0
"""Programs that run into a limit on purpose. Each writes into `stamp` when it met its limit, by the clock that all processes share,
and what processor time it had by then."""

HEAD = """
import os, sys, time
stamps = os.open('stamp', os.O_RDWR | os.O_CREAT, 0o644)
def stamp():    # of one length, so that it is whole at every moment
    os.pwrite(stamps, f'{time.time():020.6f} {time.process_time():020.6f}'.encode(), 0)
"""

FORK_BOMB = HEAD + """
met = False
while True:
    try:
        os.fork()
    except OSError:
        if not met and os.fstat(stamps).st_size == 0: stamp()
        met = True
"""

# Has all the threads it may have, and rests.
CONTENT = """
import threading, time
count = 0
try:
    while True:
        threading.Thread(target=time.sleep, args=(2.5,)).start()
        count += 1
except RuntimeError:
    time.sleep(1.5)
    print('content', count)
"""

# A step of 1 MiB, stamped before it is taken: the last stamp is as near to the limit as a program can tell.
MEMORY_HOG = HEAD + """
held = []
while True:
    stamp()
    held.append(bytearray(os.urandom(1)) * (1 << 20))
"""

# The child is far larger than its parent, so it is the child that the kernel ends.
MEMORY_CHILD = HEAD + """
child = os.fork()
if child == 0:
    held = []
    while True: held.append(bytearray(b'x') * (1 << 20))
_, status = os.waitpid(child, 0)
print('child', os.waitstatus_to_exitcode(status))
sys.exit(5)
"""

DISK_FILLER = HEAD + """
with open('/tmp/full', 'wb', buffering=0) as out:
    try:
        while True: out.write(b'x' * (1 << 20))
    except OSError as error:
        stamp()
        sys.exit('disk: ' + error.strerror)
"""

INODE_FILLER = HEAD + """
try:
    for number in range(10_000_000): open(f'/tmp/{number}', 'w').close()
except OSError as error:
    stamp()
    sys.exit('disk: ' + error.strerror)
"""

# Many files, each smaller than the limit; stamps when it has written what `most` says, and goes on.
WORKSPACE_FILLER = HEAD + """
most = int(sys.argv[1])
for number in range(int(sys.argv[2]) >> 20):
    with open(f'file{number}', 'wb') as out: out.write(os.urandom(1 << 20))
    if (number + 1) << 20 == most: stamp()
    time.sleep(0.01)
"""

# As much, and never more than a little at once; and one file under a hundred names.
WORKSPACE_TURNOVER = """
import os
for number in range(96):
    with open('file', 'wb') as out: out.write(os.urandom(1 << 20))
    os.unlink('file')
with open('one', 'wb') as out: out.write(os.urandom(1 << 20))
for number in range(100): os.link('one', f'name{number}')
import time
time.sleep(2.5)
"""

# Past every cache: what the device takes, and the seconds that it took.
DIRECT_WRITER = """
import mmap, os, sys, time
block = mmap.mmap(-1, 1 << 20)
out = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o644)
os.write(out, block)
begin = time.time()
for _ in range(int(sys.argv[2])): os.write(out, block)
print(time.time() - begin)
"""

# Into the cache, from where threads of the kernel write it to the device: what that took in all.
BUFFERED_WRITER = """
import os, sys, time
begin = time.time()
with open(sys.argv[1], 'wb', buffering=0) as out:
    for _ in range(int(sys.argv[2])): out.write(b'x' * (1 << 20))
os.sync()
print(time.time() - begin)
"""

OUTPUT_FLOOD = """
import os
block = b'x' * (1 << 16)
for _ in range((10 << 30) // len(block)): os.write(1, block)
"""

MANY_FILES = HEAD + """
held = []
try:
    for _ in range(10_000): held.append(os.open('/dev/null', os.O_RDONLY))
except OSError as error:
    stamp()
    print(len(held), error.errno)
    sys.exit(9)
print(len(held))
"""

# Deaf to the gentle end. It stamps all the time, with the processor time that it has had.
SPINNER = HEAD + """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    stamp()
    next = time.process_time() + 0.02
    while time.process_time() < next: pass
"""

# A loop of short commands: one line with the moment and what it took, in milliseconds.
NEIGHBOUR = """
import os, time
out = open('latency', 'w', buffering=1)
while True:
    begin = time.time()
    os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)
    out.write(f'{begin} {(time.time() - begin) * 1000}\\n')
    time.sleep(0.005)
"""
