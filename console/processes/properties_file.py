"""Properties files shared with an operator: we set the keys we own, every other line stays as it was written."""

import os
from collections.abc import Collection
from pathlib import Path

from broker.config.properties import is_continued, key_of_line, properties_text

#: First lines of files that are the console's alone: each start, or each change of the spec, writes them anew.
WRITTEN_AT_STARTS = "# Written by the console before each start; edit the spec, not this file.\n"
WRITTEN_AT_CHANGES = "# Written by the console whenever the process's spec changes; edit the spec, not this file.\n"


def set_properties(
    path: Path, owned: dict[str, str], initial: dict[str, str] | None = None, removed: Collection[str] = ()
) -> None:
    """Write `owned` into the file at `path`, and of `initial` what the file does not say yet; `removed` are keys that
    go.

    The file is whole at every moment and untouched if nothing changes.
    """
    old = path.read_text() if path.exists() else ""
    names = {key_of_line(line) for line in old.splitlines()}
    given = {key: value for key, value in (initial or {}).items() if key not in names}
    new = with_properties(old, owned | given, removed)
    if new != old:
        write_properties(path, new)


def write_properties(path: Path, text: str) -> None:
    """Put `text` at `path`, whole or not at all, for nobody else to read: such a file may hold a password."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    os.replace(draft, path)


def with_properties(text: str, owned: dict[str, str], removed: Collection[str] = ()) -> str:
    """Return `text` with each owned key set once: where it stood first, else at the end; and without `removed`."""
    missing, lines = dict(owned), []
    is_more = is_dropped = False
    for line in text.splitlines():
        if not is_more:
            key = key_of_line(line)
            is_dropped = key in owned or key in removed
            if key in missing:
                lines += properties_text({key: missing.pop(key)}).splitlines()
        is_more = is_continued(line) and (is_more or key != "")
        if not is_dropped:
            lines.append(line)
    return "".join(f"{line}\n" for line in lines) + properties_text(missing)
