#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A proxy that a sandbox starts for itself: HTTP CONNECT on a loopback port, dialled from inside.  relay.py PORT"""
import socket
import sys
import threading


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    finally:
        for sock in (source, target):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def serve(client):
    head = b""
    while b"\r\n\r\n" not in head and (data := client.recv(4096)):
        head += data
    try:
        host, _, port = head.split()[1].decode().rpartition(":")
        server = socket.create_connection((host, int(port)), 5)
    except (OSError, ValueError, IndexError) as error:
        client.sendall(f"HTTP/1.1 502 {type(error).__name__}\r\nContent-Length: 0\r\n\r\n".encode())
        client.close()
        return
    client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
    threading.Thread(target=pump, args=(server, client), daemon=True).start()
    pump(client, server)


def main():
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client,), daemon=True).start()


if __name__ == "__main__":
    main()
