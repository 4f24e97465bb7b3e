# SPDX-License-Identifier: Apache-2.0
# needs: python3
python3 -c '
import mmap, multiprocessing, socket, subprocess, threading
hits = []
threads = [threading.Thread(target=hits.append, args=(i,)) for i in range(20)]
for t in threads: t.start()
for t in threads: t.join()
assert len(hits) == 20
with multiprocessing.get_context("fork").Pool(2) as pool: assert pool.map(abs, [-1, -2]) == [1, 2]
assert subprocess.run(["echo", "x"], capture_output=True).stdout == b"x\n"
a, b = socket.socketpair()
a.sendall(b"x")
assert b.recv(1) == b"x"
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", 0))
s.listen()
c = socket.create_connection(s.getsockname())
d, _ = s.accept()
c.sendall(b"y")
assert d.recv(1) == b"y"
mmap.mmap(-1, 4096)[0] = 1
'
echo done
