"""One JSON line per finished request: the console's own traffic, which the demo feeds into the topic console.access.

Every client of the cluster may read that topic, so a line names nobody and nothing: not who asked, and for the path the
route (`/topics/<name>/`), without the name that stood there. Health checks, scrapes and static files are left out.
"""

import json
import logging
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from console.kit.common.cluster_urls import split

_CONVERTER = re.compile(r"<[a-z]+:")
#: The file is renamed to `.1` at this size; one old file is kept.
LOG_FILE_BYTES_MAX = 32 * 1024 * 1024
QUIET_PATHS = ("/healthz", "/metrics", "/favicon.ico")
#: The path of what is no address of ours: it may hold anything.
NO_ROUTE = "/…"


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
    is_static, (_, rest) = path.startswith(settings.STATIC_URL), split(path)
    return not is_static and f"/{rest.removeprefix(f'/{settings.PATH_PREFIX}')}" not in QUIET_PATHS


def describe(request: HttpRequest, response: HttpResponse, duration_ms: float, now_ms: int) -> dict[str, object]:
    """Return the facts of one line; `bytes` is None for a streamed response, whose length is not known."""
    return {
        "time": datetime.fromtimestamp(now_ms / 1000, UTC).isoformat(timespec="milliseconds"),
        "time_ms": now_ms,
        "method": request.method,
        "path": route_of(request),
        "status": response.status_code,
        "duration_ms": round(duration_ms, 1),
        "bytes": None if response.streaming else len(response.content),
    }


def route_of(request: HttpRequest) -> str:
    """Return `/topics/<name>/+records/` for any topic of any cluster."""
    if request.resolver_match is None:
        return NO_ROUTE
    _, route = split(f"/{request.resolver_match.route}")
    return "/" + _CONVERTER.sub("<", route.removeprefix(f"/{settings.PATH_PREFIX}"))


def open_request_log(path: Path) -> logging.Logger:
    """Open the process's only request log; a second call moves it."""
    logger = logging.getLogger("console.request_log")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    files = [handler for handler in logger.handlers if isinstance(handler, RotatingFileHandler)]
    if [Path(file.baseFilename) for file in files] != [path.absolute()]:
        for file in files:
            logger.removeHandler(file)
            file.close()
        logger.addHandler(_handler_of(path))
    return logger


def _handler_of(path: Path) -> logging.Handler:
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = RotatingFileHandler(path, maxBytes=LOG_FILE_BYTES_MAX, backupCount=1, delay=True)
    handler.setFormatter(logging.Formatter("%(message)s"))
    return handler
