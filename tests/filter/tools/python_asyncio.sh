# SPDX-License-Identifier: Apache-2.0
# needs: python3
python3 -c '
import asyncio
async def main():
    p = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
    out, _ = await p.communicate(b"hello")
    assert out == b"hello" and p.returncode == 0
    server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
    r, w = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
    assert await r.read() == b""
    await asyncio.to_thread(print)
asyncio.run(main())
'
echo done
