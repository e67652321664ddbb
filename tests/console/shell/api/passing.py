"""A console behind a socket: what is asked there is passed to Django's own test client, and its answer back."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from django.test import Client


class Passing(BaseHTTPRequestHandler):
    """`answers` are given instead, by path."""

    answers: dict = {}
    heard: list = []

    def do_GET(self):
        self._answer(None)

    def do_POST(self):
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, body):
        self.heard.append((self.path, self.headers.get("Authorization")))
        if self.path in self.answers:
            status, headers, content = self.answers[self.path]
        else:
            client = Client(headers={"Authorization": self.headers["Authorization"]})
            if body is None:
                response = client.get(self.path)
            else:
                response = client.post(self.path, body, content_type="application/json")
            status, headers, content = response.status_code, {}, response.content
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments):
        pass


@contextmanager
def passing_console(handler: type[Passing] = Passing) -> Iterator[str]:
    """Its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
