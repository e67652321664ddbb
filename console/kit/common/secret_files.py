"""Secrets live in files only their owner may read, never in the environment of a child or in a log."""

import os
import secrets
from pathlib import Path

SECRET_BYTES = 48


def load_or_create_secret(path: Path, prefix: str = "") -> str:
    """Return the secret stored at `path`, made on first use (file mode 600, directory 700), then with `prefix` before
    it.

    Safe when several processes start at once: the first link wins and everybody reads the same file.
    """
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        _create_secret(path, prefix)
        return path.read_text().strip()


def _create_secret(path: Path, prefix: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{prefix}{secrets.token_urlsafe(SECRET_BYTES)}\n")
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
