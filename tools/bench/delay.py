"""A slow link for ssh: ``ssh -o ProxyCommand='python -m tools.bench.delay HOST PORT SECONDS'``.

Each piece of data arrives so much later than it would have; none is held up by those before it.
"""

import os
import queue
import socket
import sys
import threading
import time

_MOST_BYTES = 1 << 16


def _delayed(source: int, target: int, delay_s: float) -> None:
    """Hand on what comes, each piece after its delay, until the end."""
    pieces: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()

    def read() -> None:
        data = b"-"
        while data:
            try:
                data = os.read(source, _MOST_BYTES)
            except OSError:
                data = b""
            pieces.put((time.monotonic() + delay_s, data))

    threading.Thread(target=read, daemon=True).start()
    while True:
        due_s, data = pieces.get()
        if not data:
            return
        time.sleep(max(0.0, due_s - time.monotonic()))
        while data:
            data = data[os.write(target, data) :]


def main(host: str, port: str, delay_s: str) -> None:
    """Join standard input and output to a port, each way with the delay, until either ends."""
    with socket.create_connection((host, int(port))) as link:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ends = threading.Semaphore(0)

        def one_way(source: int, target: int) -> None:
            try:
                _delayed(source, target, float(delay_s))
            except OSError:
                pass
            finally:
                ends.release()

        for pair in ((0, link.fileno()), (link.fileno(), 1)):
            threading.Thread(target=one_way, args=pair, daemon=True).start()
        ends.acquire()


if __name__ == "__main__":
    main(*sys.argv[1:])
