# SPDX-License-Identifier: Apache-2.0
"""A way to a node that breaks: each connection is reset after so many bytes of answers."""
import contextlib
import socket
import struct
import threading

RESET = struct.pack("ii", 1, 0)     # SO_LINGER: on, no time


class CuttingRelay:
    """A context; `port` is where it listens. `reach` makes a connection to the node."""

    def __init__(self, reach, after):
        self.reach, self.after, self.cuts = reach, after, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                node = self.reach()
                threading.Thread(target=self._pass, args=(client, node), daemon=True).start()
                threading.Thread(target=self._pass_and_cut, args=(node, client), daemon=True).start()

    @staticmethod
    def _pass(source, to):
        with contextlib.suppress(OSError):
            while piece := source.recv(1 << 16):
                to.sendall(piece)
        with contextlib.suppress(OSError):
            to.shutdown(socket.SHUT_WR)

    def _pass_and_cut(self, node, client):
        left = self.after
        with contextlib.suppress(OSError), node, client:
            while piece := node.recv(1 << 14):
                client.sendall(piece[:left])
                left -= len(piece)
                if left <= 0:
                    self.cuts += 1
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                    client.shutdown(socket.SHUT_RD)      # wakes who reads from it, who would keep it open
                    return
