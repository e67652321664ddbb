"""A text that is never printed by accident: a log line, an exception or a plan that holds it says `[hidden]`."""

from typing import NoReturn


class Secret:
    """`reveal()` is the only way to the text. It is not pickled: what is sent to other processes is a file's path."""

    __slots__ = ("_text",)

    def __init__(self, text: str):
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return "[hidden]"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not written anywhere; send the path of the file that it is in")
