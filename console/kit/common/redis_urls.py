"""One Redis setting, three spellings: redis-py and Channels want `unix://`, Celery wants `redis+socket://`."""

import hashlib
import os
import tempfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

#: sun_path holds 108 bytes with its terminating zero; a few are left for names derived from it.
UNIX_SOCKET_PATH_MAX = 100


def default_socket_path(run_directory: Path) -> Path:
    """Return `redis.sock` in the run directory, or in a short private directory if that path fits no socket or no
    URL.
    """
    path = run_directory / "redis.sock"
    if len(os.fsencode(path)) <= UNIX_SOCKET_PATH_MAX and not set("#?%").intersection(str(path)):
        return path
    digest = hashlib.sha256(os.fsencode(run_directory)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"barnabas-{os.getuid()}-{digest}" / "redis.sock"


def celery_url(redis_url: str) -> str:
    """Return the same Redis as Celery's transport and result backend spell it."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    database = parse_qs(parts.query).get("db", ["0"])[0]
    credentials = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    return f"redis+socket://{credentials}{parts.path}?virtual_host={database}"
