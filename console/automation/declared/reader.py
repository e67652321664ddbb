"""Values out of a tree of a file, of the kind they have to be of; what is wrong is noted with its line. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from console.automation.declared.declaration import Problem, SourceLine
from console.automation.declared.document import DocumentEntry, DocumentTable, Node, Scalar, Sequence

#: Told at once: who mends those looks again.
PROBLEMS_MAX = 20
_TEXT_LENGTH_MAX = 64 * 1024
_YES, _NO = ("true", "True", "yes"), ("false", "False", "no")


@dataclass
class DeclarationReader:
    """Reader of one file. What cannot be read is None, or left out, and noted."""

    file: str
    problems: list[Problem] = field(default_factory=list)

    def at(self, line: int) -> SourceLine:
        return SourceLine(self.file, line)

    def wrong(self, line: int, sentence: str) -> None:
        if len(self.problems) < PROBLEMS_MAX:
            self.problems.append(Problem(self.at(line), sentence))

    def table(self, node: Node, what: str, known: Iterable[str] = ()) -> Mapping[str, DocumentEntry]:
        """Return the mapping; empty for an empty node. With `known` other names are refused."""
        if isinstance(node, Scalar) and node.text is None:
            return {}
        if not isinstance(node, DocumentTable):
            self.wrong(node.line, f"{what} has to be a table: names, each with a colon and a value.")
            return {}
        names = list(known)
        if names:
            for name, entry in node.entries.items():
                if name not in names:
                    self.wrong(entry.line, f"{what} has no {name[:80]!r}; it has {', '.join(names)}.")
        return node.entries

    def items(self, node: Node, what: str) -> Iterator[Node]:
        if isinstance(node, Sequence):
            yield from node.items
        elif not (isinstance(node, Scalar) and node.text is None):
            self.wrong(node.line, f"{what} has to be a list: lines that begin with a dash.")

    def text(self, entry: DocumentEntry | None, name: str) -> str | None:
        if entry is None:
            return None
        if not isinstance(entry.value, Scalar) or entry.value.text is None:
            self.wrong(entry.line, f"{name} has to have one value.")
            return None
        if len(entry.value.text) > _TEXT_LENGTH_MAX:
            self.wrong(entry.line, f"The value of {name} is too long.")
            return None
        return entry.value.text

    def texts(self, entry: DocumentEntry | None, name: str) -> tuple[str, ...]:
        """Return one value, or a list of them, as a tuple."""
        if entry is None:
            return ()
        if not isinstance(entry.value, Sequence):
            text = self.text(entry, name)
            return () if text is None else (text,)
        texts = [self.text(DocumentEntry(item.line, item), name) for item in entry.value.items]
        return tuple(item for item in texts if item is not None)

    def number(self, entry: DocumentEntry | None, name: str, most: int) -> int | None:
        text = self.text(entry, name)
        if entry is None or text is None:
            return None
        if not (text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= most):
            self.wrong(entry.line, f"{name} has to be a whole number from 1 to {most:,}, not {text[:40]!r}.")
            return None
        return int(text)

    def switch(self, entry: DocumentEntry | None, name: str) -> bool:
        text = self.text(entry, name)
        if entry is not None and text is not None and text not in (*_YES, *_NO):
            self.wrong(entry.line, f"{name} has to be true or false, not {text[:40]!r}.")
        return text in _YES


def line_of(entry: DocumentEntry | None, otherwise: int) -> int:
    return otherwise if entry is None else entry.line


def refused_if(reader: DeclarationReader, line: int, name: str, refusal: Callable[[str], str]) -> bool:
    """Return whether `refusal` has a sentence about `name`, which is noted."""
    sentence = refusal(name)
    if sentence:
        reader.wrong(line, sentence)
    return bool(sentence)
