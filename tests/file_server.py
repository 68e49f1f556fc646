"""An HTTP server on loopback that misbehaves as told, for tests of the download."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Behaviour:
    """What the server has, and what goes wrong; what it was asked is written down."""

    files: dict[str, bytes] = field(default_factory=dict)
    tag: str = '"one"'
    ranges: bool = True
    cuts: list[int] = field(default_factory=list)
    """Bytes after which each of the next answers is cut."""
    always_cut: int | None = None
    silent: bool = False
    trickle: float = 0.0
    pause: float = 0.0
    lengths: bool = True
    status: int = 0
    """Answered to every request, if not 0."""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Path and Range of each request."""


class FileServer(ThreadingHTTPServer):
    """Serves a `Behaviour`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behaviour = Behaviour()

    def url(self, name: str) -> str:
        """The address of a file."""
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that leaves early is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: FileServer

    def do_GET(self) -> None:
        told = self.server.behaviour
        asked = self.headers.get("Range", "")
        told.asked.append((self.path, asked))
        if told.silent:
            time.sleep(3)
            return
        content = told.files.get(self.path.lstrip("/"))
        if content is None:
            self.send_error(404)
            return
        start = 0
        if asked and told.ranges and self.headers.get("If-Range") == told.tag:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
        if start >= len(content) > 0:
            self.send_error(416)
            return
        self.send_response(told.status or (206 if start else 200))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        if told.lengths:
            self.send_header("Content-Length", str(len(content) - start))
        if told.tag:
            self.send_header("ETag", told.tag)
        self.end_headers()
        self._send(content[start:], told)

    def _send(self, rest: bytes, told: Behaviour) -> None:
        cut = told.cuts.pop(0) if told.cuts else told.always_cut
        if told.trickle:
            for place in range(len(rest)):
                self.wfile.write(rest[place : place + 1])
                time.sleep(told.trickle)
            return
        half = len(rest) // 2
        self.wfile.write(rest[: half if cut is None else cut])
        time.sleep(told.pause)
        if cut is None:
            self.wfile.write(rest[half:])

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[FileServer]:
    """Run a server in a thread until the end of the block."""
    with FileServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01], daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
