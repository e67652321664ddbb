"""Imports that nothing but options needs: Confluent's registry keeps them in the text and compiles without them.

protoc wants every import. So it is given the text without those that are missing and without the options that only
they can define; what else they define is missing and is refused. Pure.
"""

import re
from collections.abc import Iterable, Iterator

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

from broker.registry.comparison_budget import ComparisonBudget
from broker.registry.protobuf.map_entries import blanked, tokens

_MISSING = re.compile(
    r'^(?:(\S+): File not found|\S*: Import "([^"\n]+)" was not found or had errors)\.$', re.MULTILINE
)
_UNDEFINED = re.compile(r'Option "\([^"\n]+\)[^"\n]*" unknown')
_OPENING, _CLOSING = {"(", "[", "{"}, {")", "]", "}"}

Token = re.Match[str]


def missing_imports(errors: str) -> frozenset[str]:
    """Return the paths that the compiler did not find, by what it says of them."""
    return frozenset(path or imported for path, imported in _MISSING.findall(errors))


def has_undefined_option(errors: str) -> bool:
    """Return whether the compiler says that no file defines a custom option."""
    return _UNDEFINED.search(errors) is not None


def without_imports(text: str, missing: frozenset[str]) -> str:
    """Return the text of the same length without the statements that import these paths."""
    cuts: list[tuple[int, int]] = []
    statement: list[Token] = []
    for token in tokens(text):
        statement = [*statement, token][-4:]
        if token.group() in (";", "{", "}"):
            words = [word.group() for word in statement]
            if words[0] == "import" and len(words) > 2 and words[-2][1:-1] in missing:
                cuts.append((statement[0].start(), token.end()))
            statement = []
    return blanked(text, cuts)


def without_options(text: str, known: "KnownExtensions") -> str:
    """Return the text of the same length without the custom options that none of the known extensions defines."""
    return blanked(text, _cuts(list(tokens(text)), known))


def extensions_of(files: Iterable[FileDescriptorProto]) -> "KnownExtensions":
    """Return all extensions that the files define. Raises InvalidSchema where their names are too long together."""
    names, budget = set[str](), ComparisonBudget()
    for file in files:
        root = f"{file.package}." if file.package else ""
        for name in _extensions(root, file.extension, file.message_type):
            budget.spend_bytes(len(name))
            names.add(name)
    return KnownExtensions(names)


def _extensions(
    around: str, fields: Iterable[FieldDescriptorProto], messages: Iterable[DescriptorProto]
) -> Iterator[str]:
    yield from (f"{around}{field.name}" for field in fields)
    for message in messages:
        yield from _extensions(f"{around}{message.name}.", message.extension, message.nested_type)


class KnownExtensions:
    """The extensions that some files define. A name without a dot before it may stand for any that ends with it."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._by_last: dict[str, list[str]] = {}
        self._budget = ComparisonBudget()
        for name in names:
            self._by_last.setdefault(name.rpartition(".")[2], []).append(name)

    def has(self, name: str) -> bool:
        """Raises InvalidSchema where looking takes too long: thousands may end alike."""
        full = name.removeprefix(".")
        candidates = self._by_last.get(full.rpartition(".")[2], ())
        self._budget.spend_steps(len(candidates))
        if name.startswith("."):
            return full in candidates
        return any(item == full or item.endswith(f".{full}") for item in candidates)


def _cuts(all_tokens: list[Token], known: KnownExtensions) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(all_tokens):
        word = all_tokens[at].group()
        if word == "option" and _word(all_tokens, at - 1) != "rpc":
            end = _end(all_tokens, at, ";")
            if _word(all_tokens, at + 1) == "(" and not known.has(_name(all_tokens, at + 1)):
                yield all_tokens[at].start(), all_tokens[end].end()
            at = end
        elif word == "[":
            end = _end(all_tokens, at + 1, "]")
            yield from _bracketed(all_tokens, at, end, known)
            at = end
        at += 1


def _bracketed(all_tokens: list[Token], start: int, end: int, known: KnownExtensions) -> Iterator[tuple[int, int]]:
    """Yield the cuts in a list of options in brackets: with the comma behind an option as long as none is kept, then
    with the comma before it.
    """
    first, is_any_kept, cuts = start + 1, False, []
    while first < end:
        stop = min(_end(all_tokens, first, ","), end)
        is_custom = _word(all_tokens, first) == "("
        if not is_custom or known.has(_name(all_tokens, first)):
            is_any_kept = True
        elif is_any_kept:
            cuts.append((all_tokens[first - 1].start(), all_tokens[stop - 1].end()))
        else:
            cuts.append((all_tokens[first].start(), all_tokens[min(stop, end - 1)].end()))
        first = stop + 1
    if not is_any_kept and cuts:
        cuts = [(all_tokens[start].start(), all_tokens[end].end())]
    yield from cuts


def _word(all_tokens: list[Token], at: int) -> str:
    return all_tokens[at].group() if 0 <= at < len(all_tokens) else ""


def _name(all_tokens: list[Token], at: int) -> str:
    """Return the name in the brackets that begin at this token."""
    words: list[str] = []
    for index in range(at + 1, len(all_tokens)):
        if all_tokens[index].group() in (")", "=", ";"):
            break
        words.append(all_tokens[index].group())
    return "".join(words)


def _end(all_tokens: list[Token], at: int, mark: str) -> int:
    """Return the index of the mark outside of inner brackets; of the last token where there is none."""
    depth = 0
    for index in range(at, len(all_tokens)):
        word = all_tokens[index].group()
        if depth == 0 and word == mark:
            return index
        depth += (word in _OPENING) - (word in _CLOSING)
        if depth < 0:
            return index
    return len(all_tokens) - 1


#: Before and behind these no blank stands, before and behind "=" one.
_TIGHT_BEFORE, _TIGHT_BEHIND, _LINE_ENDS = set(";,)]"), set("(["), set(";{}")


def tidied(text: str) -> str:
    """Return the text without comments and with blanks in one way: what is stored where the printer would lose the
    options that are left out.
    """
    pieces: list[str] = []
    before, ended = "", 0
    for token in tokens(text):
        word = token.group()
        pieces += (_gap(before, word, token.start() > ended) if before else "", word)
        before, ended = word, token.end()
    return "".join((*pieces, "\n"))


def _gap(before: str, word: str, is_apart: bool) -> str:
    if word in _TIGHT_BEFORE or before in _TIGHT_BEHIND:
        return ""
    if before in _LINE_ENDS:
        return "\n"
    return " " if is_apart or "=" in (before, word) or before == "," else ""
