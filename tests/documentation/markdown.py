"""Read the parts of a Markdown document that tests and the site need: links, anchors, code blocks, sentences. Pure."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_FENCE = re.compile(r"^ *(`{3,}|~{3,})(\w*)\s*$")
_CODE = re.compile(r"`+[^`]*`+")
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?)\s*#*$")
_LIST_ITEM = re.compile(r"^ *(?:[-*+]|\d+[.)]) +")
_SENTENCE_END = re.compile(r"(?<=[.!?])[)\"*_]*\s+(?=[\"*_`(\[]*[A-ZÄÖÜ0-9`…])")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


class CodeBlock(NamedTuple):
    """A fenced block; `line` is the number of its first line of content, from 1."""

    language: str
    text: str
    line: int


def code_blocks(text: str) -> list[CodeBlock]:
    blocks, fence, language, lines, first = [], "", "", [], 0
    for number, line in enumerate(text.splitlines(), 1):
        match = _FENCE.match(line)
        if fence and match and match[1].startswith(fence):
            blocks.append(CodeBlock(language, "\n".join(lines) + "\n", first))
            fence = ""
        elif fence:
            lines.append(line)
        elif match:
            fence, language, lines, first = match[1], match[2], [], number + 1
    return blocks


def prose_lines(text: str) -> Iterator[str]:
    """Yield the lines outside of fenced and indented code and of comments."""
    fence, before = "", ""
    for line in _COMMENT.sub("", text).splitlines():
        match = _FENCE.match(line)
        if fence:
            fence = "" if match and match[1].startswith(fence) else fence
        elif match:
            fence = match[1]
        elif not (line.startswith("    ") and not before.strip()):
            yield line
        before = line


def links(text: str) -> list[str]:
    """Return the targets of all links and pictures, in their order."""
    return [match[3] for line in prose_lines(text) for match in _LINK.finditer(_CODE.sub("", line))]


def anchors(text: str) -> set[str]:
    """Return the anchors of all headings, as GitHub and MkDocs make them; a repeated heading counts once."""
    return {slug(match[1]) for line in prose_lines(text) if (match := _HEADING.match(line))}


def slug(heading: str) -> str:
    plain = _LINK.sub(lambda match: match[2], heading).replace("`", "").strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", plain))


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of paragraphs, list items and cells of tables. Code and the addresses of links do not count.

    A piece of code is one word, whatever its length. A sentence ends with a full stop, and with its paragraph.
    """
    for paragraph in _paragraphs(text):
        plain = _LINK.sub(lambda match: match[2], _CODE.sub("Code", paragraph))
        yield from (part for part in _SENTENCE_END.split(plain) if part.strip())


def _paragraphs(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in [*prose_lines(text), ""]:
        is_table = line.lstrip().startswith("|")
        if is_table or not line.strip() or _HEADING.match(line) or _LIST_ITEM.match(line):
            if lines:
                yield " ".join(lines)
            lines = []
        if is_table:
            yield from (cell for cell in re.split(r"(?<!\\)\|", line) if cell.strip(" -:"))
        elif line.strip() and not _HEADING.match(line):
            lines.append(_LIST_ITEM.sub("", line.strip()))
    if lines:
        yield " ".join(lines)


def word_count(sentence: str) -> int:
    return len(re.findall(r"[^\s–—·/|]*\w[^\s–—·/|]*", sentence))
