"""Imports that nothing but options needs: Confluent's registry keeps them in the text and compiles without them.

protoc wants every import. So it is given the text without those that are missing and without the options that only
they can define; what else they define is missing and is refused. Pure.
"""

import re
from collections.abc import Iterable, Iterator

from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto

from broker.registry.protobuf.map_entries import blanked, tokens

_MISSING = re.compile(
    r'^(?:(\S+): File not found|\S*: Import "([^"\n]+)" was not found or had errors)\.$', re.MULTILINE
)
_OPENING, _CLOSING = {"(", "[", "{"}, {")", "]", "}"}

Token = re.Match[str]


def missing_imports(errors: str) -> frozenset[str]:
    """Return the paths that the compiler did not find, by what it says of them."""
    return frozenset(path or imported for path, imported in _MISSING.findall(errors))


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


def without_options(text: str, known: frozenset[str] | None) -> str:
    """Return the text of the same length without custom options; with `known`, full names of extensions, without all
    others.
    """
    return blanked(text, _cuts(list(tokens(text)), known))


def extensions_of(files: Iterable[FileDescriptorProto]) -> frozenset[str]:
    """Return the full names of all extensions that the files define."""
    names: set[str] = set()
    for file in files:
        root = f"{file.package}." if file.package else ""
        names |= {f"{root}{field.name}" for field in file.extension}
        names |= {name for message in file.message_type for name in _nested_extensions(root, message)}
    return frozenset(names)


def _nested_extensions(around: str, message: DescriptorProto) -> Iterator[str]:
    root = f"{around}{message.name}."
    yield from (f"{root}{field.name}" for field in message.extension)
    for nested in message.nested_type:
        yield from _nested_extensions(root, nested)


def _is_known(name: str, known: frozenset[str] | None) -> bool:
    """A name without a dot before it may stand for any that ends with it."""
    if known is None:
        return False
    full = name.removeprefix(".")
    return full in known or (not name.startswith(".") and any(item.endswith(f".{full}") for item in known))


def _cuts(all_tokens: list[Token], known: frozenset[str] | None) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(all_tokens):
        word = all_tokens[at].group()
        if word == "option" and _word(all_tokens, at - 1) != "rpc":
            end = _end(all_tokens, at, ";")
            if _word(all_tokens, at + 1) == "(" and not _is_known(_name(all_tokens, at + 1), known):
                yield all_tokens[at].start(), all_tokens[end].end()
            at = end
        elif word == "[":
            end = _end(all_tokens, at + 1, "]")
            yield from _bracketed(all_tokens, at, end, known)
            at = end
        at += 1


def _bracketed(
    all_tokens: list[Token], start: int, end: int, known: frozenset[str] | None
) -> Iterator[tuple[int, int]]:
    """The cuts in a list of options in brackets: with the comma behind an option as long as none is kept, then with
    the comma before it.
    """
    first, is_any_kept, cuts = start + 1, False, []
    while first < end:
        stop = min(_end(all_tokens, first, ","), end)
        is_custom = _word(all_tokens, first) == "("
        if not is_custom or _is_known(_name(all_tokens, first), known):
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
    """What stands in the brackets that begin at this token."""
    words = []
    for token in all_tokens[at + 1 :]:
        if token.group() == ")":
            break
        words.append(token.group())
    return "".join(words)


def _end(all_tokens: list[Token], at: int, mark: str) -> int:
    """The place of the mark outside of inner brackets; the last token where there is none."""
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
