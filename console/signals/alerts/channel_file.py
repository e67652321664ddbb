"""Adds a channel to the file of the rules, whose other lines stay as they are."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from console.kit.common.file_lock import exclusive
from console.kit.common.owned_files import FileError, read_private_text
from console.signals.alerts.rules import AlertRulesError, parse_rules


class ChannelError(Exception):
    """Why the channel was not added, one sentence without a secret."""


def add_channel(path: Path, name: str, settings: Mapping[str, str | bool]) -> None:
    """Append the channel to the file at `path`, which is made with mode 600 if there is none. Raises ChannelError.

    `settings` are those of the file, `kind` among them. The file is replaced only by one that can be read.
    """
    try:
        with exclusive(path.with_name(f".{path.name}.lock")):
            _add(path, name, settings)
    except (AlertRulesError, FileError) as error:
        raise ChannelError(str(error)) from None
    except OSError as error:
        raise ChannelError(f"{path} cannot be written: {error.strerror}. Nothing was changed.") from None


def _add(path: Path, name: str, settings: Mapping[str, str | bool]) -> None:
    text = read_private_text(path) if path.exists() else ""
    if name in parse_rules(text).channels:
        raise ChannelError(f"There is a channel {name} already: choose another name.")
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in settings.items()]
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    text = text + gap + "\n".join([f"[channels.{json.dumps(name, ensure_ascii=False)}]", *lines, ""])
    parse_rules(text)
    _replace(path, text)


def _replace(path: Path, text: str) -> None:
    """Write `text` beside the file, of mode 600, and put it in the file's place. Raises OSError."""
    new = path.with_name(f".{path.name}.new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
