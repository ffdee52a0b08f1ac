"""A local server that misbehaves on request, for tests of downloads."""

import threading
import time
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONTENT = bytes(range(256)) * 1000  # more than one chunk


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        behaviour = self.path.split("/")[1]
        self.server.asked[behaviour] += 1
        getattr(self, behaviour)()

    def good(self, content=CONTENT, length=None):
        self.send_response(200)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        self.end_headers()
        self.wfile.write(content)

    def truncated(self):
        self.good(CONTENT[:100_000], len(CONTENT))

    def short(self):
        self.good(CONTENT[:-1])

    def long(self):
        self.good(CONTENT + b"!")

    def wrong(self):
        self.good(CONTENT[:-1] + b"!")

    def missing(self):
        self.send_error(404)

    def broken(self):
        self.send_error(500)

    def stalled(self):
        self.good(CONTENT[:200_000], len(CONTENT))  # more than a file buffers before it writes, 128 kB in Python 3.14
        self.wfile.flush()
        self.server.finished.wait(20)

    def slow(self):
        time.sleep(0.5)
        self.good()

    def files(self):
        """Serve the content that a test has put into `server.contents` under this name."""
        content = self.server.contents.get(self.path.partition("/files/")[2])
        if content is None:
            self.missing()
        else:
            self.good(content)

    def log_message(self, *args):
        pass


@contextmanager
def serving():
    """Run the server; its attribute `asked` counts the requests by behaviour, `contents` are the files to serve."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.contents, server.finished = Counter(), {}, threading.Event()
    server.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.finished.set()
        server.shutdown()
        thread.join()
        server.server_close()
