"""What a person may mean by some words: an object's name, and the words of what is to be done to it. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from console.kit.features.verbs import ObjectKind

WORDS_MAX = 8
#: Words that name the kind of the object behind them, as in `restart broker 2`.
_NOUNS = {
    "topic": ObjectKind.TOPIC,
    "group": ObjectKind.GROUP,
    "consumer": ObjectKind.GROUP,
    "broker": ObjectKind.BROKER,
    "process": ObjectKind.PROCESS,
    "connector": ObjectKind.CONNECTOR,
    "principal": ObjectKind.PRINCIPAL,
    "user": ObjectKind.PRINCIPAL,
    "client": ObjectKind.PRINCIPAL,
}
_FILLERS = frozenset(("a", "an", "for", "from", "in", "is", "of", "on", "the", "to"))
_NUMBER_LENGTH_MAX = 9


@dataclass(frozen=True, slots=True)
class Phrase:
    """One way to read the words. `kind` is None where every kind of object may be meant.

    `rest` are the words of the verb; `partition` is a number among them, or None.
    """

    name: str
    rest: tuple[str, ...] = ()
    kind: ObjectKind | None = None
    partition: int | None = None

    @property
    def is_name_only(self) -> bool:
        return not self.rest and self.partition is None


def phrases_of(words: Sequence[str]) -> Iterator[Phrase]:
    """Yield the readings of `words`, which are in lower case, the likeliest first."""
    words = words[:WORDS_MAX]
    for number, word in enumerate(words[:-1]):
        if word in _NOUNS:
            yield from _of_kind(_NOUNS[word], words[number + 1], (*words[:number], *words[number + 2 :]))
    for number, word in enumerate(words):
        if word not in _FILLERS or len(words) == 1:
            yield _phrase(word, (*words[:number], *words[number + 1 :]))


def number_in(word: str) -> int | None:
    """Return the number that `word` writes in ASCII digits, None for another word and for a longer one."""
    is_number = word.isascii() and word.isdigit() and len(word) <= _NUMBER_LENGTH_MAX
    return int(word) if is_number else None


def _of_kind(kind: ObjectKind, name: str, others: Sequence[str]) -> Iterator[Phrase]:
    """Yield the phrases of a kind; `broker 2` also means the process `broker-2`."""
    yield _phrase(name, others, kind)
    if kind is ObjectKind.BROKER and number_in(name) is not None and others:
        yield _phrase(f"broker-{name}", others, ObjectKind.PROCESS)


def _phrase(name: str, others: Sequence[str], kind: ObjectKind | None = None) -> Phrase:
    rest = [word for word in others if word not in _FILLERS]
    numbers = [word for word in rest if number_in(word) is not None]
    if len(numbers) != 1:
        return Phrase(name, tuple(rest), kind)
    return Phrase(name, tuple(word for word in rest if word not in numbers), kind, number_in(numbers[0]))
