"""Who alerts are sent to: a real HTTP server and a real SMTP server on this machine, which keep what came."""

import contextlib
import socketserver
import threading
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class HttpReceiver:
    """Use it in a `with` block. Answers with `status`; while `hangs` is set and not cleared it does not answer."""

    def __init__(self) -> None:
        self.came: list[tuple[str, str, dict[str, str], bytes]] = []
        self.status = 200
        self.location = ""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                receiver.came.append((self.command, self.path, dict(self.headers), body))
                self.send_response(receiver.status)
                if receiver.location:
                    self.send_header("Location", receiver.location)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_PUT = do_POST

            def log_message(self, *_arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> "HttpReceiver":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._thread.join(10)
        self._server.server_close()


class SmtpReceiver:
    """As much of RFC 5321 as a client of the standard library says."""

    def __init__(self) -> None:
        self.came: list[EmailMessage] = []
        self.refuses = False
        self.greeting = "220 here"
        #: Before each byte of a reply.
        self.pause_s = 0.0
        self._is_over = threading.Event()
        receiver = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self._say(receiver.greeting)
                while line := self.rfile.readline():
                    word = line[:4].upper()
                    if word == b"DATA":
                        self._say("354 go on")
                        self._take()
                    elif word == b"QUIT":
                        self._say("221 bye")
                        return
                    elif word == b"MAIL" and receiver.refuses:
                        self._say("550 not from you")
                    else:
                        self._say("250 fine")

            def _take(self) -> None:
                lines = []
                while (line := self.rfile.readline()) not in (b".\r\n", b""):
                    lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
                receiver.came.append(message_from_bytes(b"".join(lines), policy=policy.default))
                self._say("250 taken")

            def _say(self, text: str) -> None:
                line = text.encode() + b"\r\n"
                for piece in [line] if not receiver.pause_s else [bytes([item]) for item in line]:
                    receiver._is_over.wait(receiver.pause_s)
                    with contextlib.suppress(OSError):
                        self.wfile.write(piece)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> "SmtpReceiver":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_over.set()
        self._server.shutdown()
        self._thread.join(10)
        self._server.server_close()
