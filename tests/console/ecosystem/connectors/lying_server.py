"""A small server in the place of Kafka Connect: it answers what a test says, however wrong, slow or large."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: Writes an answer by itself.
Raw = Callable[[BaseHTTPRequestHandler], None]

KEYS = [
    {"name": "file", "type": "STRING", "required": True, "importance": "HIGH", "documentation": "Where it reads.",
     "group": "File", "order": 1, "display_name": "File", "default_value": None},
    {"name": "batch.size", "type": "INT", "required": False, "importance": "LOW", "documentation": "Lines at once.",
     "group": "File", "order": 2, "display_name": "Batch", "default_value": "2000"},
    {"name": "db.phrase", "type": "PASSWORD", "required": False, "importance": "MEDIUM", "documentation": "To log in.",
     "group": "Login", "order": 1, "display_name": "Phrase", "default_value": None},
]  # fmt: skip


def connector(name: str, state: str = "RUNNING", tasks: tuple = ("RUNNING",), kind: str = "source", **config: str):
    """As `GET /connectors?expand=…` has it; a task is a state, or a pair of state and trace."""
    states = [task if isinstance(task, tuple) else (task, None) for task in tasks]
    return {
        "info": {
            "name": name,
            "type": kind,
            "config": {"name": name, "connector.class": "org.example.FileSourceConnector", **config},
            "tasks": [{"connector": name, "task": number} for number in range(len(states))],
        },
        "status": {
            "name": name,
            "type": kind,
            "connector": {"state": state, "worker_id": "10.0.0.1:8083"},
            "tasks": [
                {"id": number, "state": item, "worker_id": "10.0.0.1:8083", **({"trace": trace} if trace else {})}
                for number, (item, trace) in enumerate(states)
            ],
        },
    }


class LyingServer:
    """`answers`: (method, path without query) → what is sent; `connectors` are told as Connect tells them."""

    def __init__(self) -> None:
        self.connectors: dict[str, Any] = {}
        self.answers: dict[tuple[str, str], tuple[int, Any] | Raw] = {}
        self.requests: list[tuple[str, str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "LyingServer":
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()

    def changes(self) -> list[tuple[str, str, Any]]:
        """What was asked but to read."""
        return [item for item in self.requests if item[0] != "GET" and not item[1].endswith("/validate")]

    def _answer(self, method: str, path: str) -> tuple[int, Any] | Raw:
        answer = self.answers.get((method, path.partition("?")[0]))
        return self._honest(method, path) if answer is None else answer

    def _honest(self, method: str, path: str) -> tuple[int, Any]:
        plain = path.partition("?")[0]
        parts = plain.strip("/").split("/")
        if plain == "/":
            return 200, {"version": "3.8.0", "commit": "abc", "kafka_cluster_id": "fake-cluster"}
        if plain == "/connectors" and method == "GET":
            return 200, self.connectors
        if plain == "/connector-plugins":
            return 200, [{"class": "org.example.FileSourceConnector", "type": "source", "version": "3.8.0"}]
        if plain.endswith("/validate"):
            return 200, {"name": "x", "error_count": 0, "groups": [], "configs": []}
        if parts[0] == "connector-plugins":
            return 200, KEYS
        if method != "GET":
            return 204, None
        if len(parts) > 1 and parts[1] in self.connectors:
            return self._of_connector(self.connectors[parts[1]], parts)
        return 404, {"error_code": 404, "message": "Connector not found"}

    def _of_connector(self, expected: Any, parts: list[str]) -> tuple[int, Any]:
        if len(parts) == 2:
            return 200, expected["info"]
        of_it = {"status": expected["status"], "offsets": {"offsets": []}, "topics": {parts[1]: {"topics": []}}}
        return 200, of_it[parts[2]]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                server.requests.append((self.command, self.path, json.loads(body) if body else None))
                server.headers.append(dict(self.headers))
                answer = server._answer(self.command, self.path)
                if callable(answer):
                    answer(self)
                    self.close_connection = True
                    return
                status, content = answer
                sent = (
                    content if isinstance(content, bytes) else b"" if content is None else json.dumps(content).encode()
                )
                self.send_response(status)
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = _any

            def log_message(self, *_arguments: object) -> None:
                pass

        return Handler
