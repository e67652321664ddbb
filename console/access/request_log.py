"""One JSON line per finished request: the console's own traffic, which the demo feeds into the topic console.access.

Health checks, scrapes and static files are left out: they say nothing about people. The path is logged without its
query string, which may hold what somebody searched for.
"""

import json
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse

#: The file is renamed to `.1` at this size; one old file is kept.
LOG_FILE_BYTES_MAX = 32 * 1024 * 1024
QUIET_PATHS = ("/healthz", "/metrics", "/favicon.ico")
PATH_LENGTH_MAX = 512


class RequestLogMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response
        self.logger = open_request_log(Path(settings.REQUEST_LOG_FILE))

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        response = self.get_response(request)
        if is_logged(request.path):
            duration_ms = (time.perf_counter() - started) * 1000
            self.logger.info(json.dumps(describe(request, response, duration_ms, time.time_ns() // 1_000_000)))
        return response


def is_logged(path: str) -> bool:
    is_static = path.startswith(settings.STATIC_URL)
    return not is_static and f"/{path.removeprefix(f'/{settings.PATH_PREFIX}')}" not in QUIET_PATHS


def describe(request: HttpRequest, response: HttpResponse, duration_ms: float, now_ms: int) -> dict:
    """The facts of one line; `bytes` is None for a streamed response, whose length is not known."""
    user = getattr(request, "user", None)
    return {
        "time": datetime.fromtimestamp(now_ms / 1000, UTC).isoformat(timespec="milliseconds"),
        "time_ms": now_ms,
        "method": request.method,
        "path": request.path[:PATH_LENGTH_MAX],
        "status": response.status_code,
        "duration_ms": round(duration_ms, 1),
        "user": user.get_username() if user is not None and user.is_authenticated else "",
        "bytes": None if response.streaming else len(response.content),
    }


def open_request_log(path: Path) -> logging.Logger:
    logger = logging.getLogger(f"console.request_log.{path}")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    if not logger.handlers:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(path, maxBytes=LOG_FILE_BYTES_MAX, backupCount=1, delay=True)
        handler.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(handler)
    return logger
