"""Python source under construction: what the encoder's and the decoder's generators have in common.

Generated functions are kept in `linecache`, so that a traceback or a debugger shows their lines and
`inspect.getsource` prints them.
"""

import linecache
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def function_name(verb: str, code: str) -> str:
    """Return a name that tells the layout: read_ihq reads an int32, an int16 and an int64 ("?" is no letter, "t" is
    free).
    """
    return f"{verb}_{code.replace('?', 't')}"


class SourceWriter:
    """Indented lines and the objects they refer to by name."""

    def __init__(self, **names: Any):
        self._lines: list[str] = []
        self._indent = 0
        self._names = dict(names)

    def line(self, text: str) -> None:
        self._lines.append("    " * self._indent + text)

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """Indent everything written in the block under `header`."""
        self.line(header)
        self._indent += 1
        yield
        self._indent -= 1

    def name(self, prefix: str, value: Any) -> str:
        """Return a global name of the generated module that stands for `value`; the same one for the same pair."""
        name = prefix
        count = 1
        while name in self._names and self._names[name] is not value:
            count += 1
            name = f"{prefix}_{count}"
        self._names[name] = value
        return name

    def load(self, title: str) -> dict[str, Any]:
        """Compile and run what was written; the resulting module's globals."""
        text = "\n".join(self._lines) + "\n"
        filename = f"<{title}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        exec(compile(text, filename, "exec"), self._names)
        return self._names
