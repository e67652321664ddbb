"""Matches whole names against a pattern of RE2, letter by letter, by all ways at once: never twice the same way.

The tree becomes a program of a nondeterministic automaton; the sets of places in it that names lead to are found as
they come, and remembered.
"""

from collections.abc import Iterable
from typing import NamedTuple

from broker.common.re2.parser import WORD, Alternatives, Assertion, Letters, Node, PatternParser, Re2Error, Repeated

#: Instructions that a pattern may come to: each letter of a name costs that many steps at most.
_PROGRAM_MAX = 5_000
#: Moves of a pattern that are remembered: some 0.5 KB each.
_MOVES_MAX = 2_000
#: Steps that one look at all topics may take: a second or two. 20,000 topics with names of 50 letters take a million.
_WORK_MAX = 2_000_000

_START, _NO_WORD, _IN_WORD = 0, 1, 2
_Places = frozenset[int]


class _Step(NamedTuple):
    """One instruction: go on to `goes_to` after a letter, at a place of a kind, or at once."""

    letters: frozenset[str] | None = None
    assertion: str = ""
    goes_to: tuple[int, ...] = ()


class TopicPattern:
    """A pattern, and what it is known to match. Raises Re2Error when it is made for what is none of RE2's.

    `matching` raises Re2Error if the pattern would take too long.
    """

    def __init__(self, pattern: str):
        self._program: list[_Step] = []
        self._start = self._compile(PatternParser(pattern).parse(), self._add(_Step()))
        self._moves: dict[tuple[_Places, int, str], _Places] = {}
        self._known: set[str] = set()
        self._matched: set[str] = set()
        self._work_left = 0

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        """Return those of the names that the whole pattern matches. Names that were asked for before cost nothing."""
        wanted = set(names)
        self._known &= wanted
        self._matched &= wanted
        self._work_left = _WORK_MAX
        for name in wanted - self._known:
            if self._matches(name):
                self._matched.add(name)
            self._known.add(name)
        return frozenset(self._matched)

    def _matches(self, name: str) -> bool:
        places, before = frozenset((self._start,)), _START
        for letter in name:
            move = places, before, letter
            following = self._moves.get(move)
            if following is None:
                following = self._follow(move)
            places = following
            if not places:
                return False
            self._work_left -= 1
            before = _IN_WORD if letter in WORD else _NO_WORD
        return 0 in self._reached(places, before, "")

    def _follow(self, move: tuple[_Places, int, str]) -> _Places:
        places, before, letter = move
        if len(self._moves) >= _MOVES_MAX:
            self._moves.clear()
        following: set[int] = set()
        for place in self._reached(places, before, letter):
            step = self._program[place]
            if step.letters is not None and letter in step.letters:
                following.update(step.goes_to)
        self._moves[move] = frozenset(following)
        return self._moves[move]

    def _reached(self, places: _Places, before: int, letter: str) -> set[int]:
        """Return the places that are reached without a letter, before `letter`, which is empty at the end."""
        self._work_left -= len(places)
        reached, waiting = set[int](), list(places)
        while waiting:
            place = waiting.pop()
            if place in reached:
                continue
            reached.add(place)
            step = self._program[place]
            if step.letters is None and _holds(step.assertion, before, letter):
                waiting += step.goes_to
        self._work_left -= len(reached)
        if self._work_left < 0:
            raise Re2Error("expression takes too long")
        return reached

    # -- the program --------------------------------------------------------------------------------------------------

    def _add(self, step: _Step) -> int:
        if len(self._program) >= _PROGRAM_MAX:
            raise Re2Error("expression is too large")
        self._program.append(step)
        return len(self._program) - 1

    def _compile(self, node: Node, then: int) -> int:
        """Return the place where the node begins that goes on to `then`."""
        match node:
            case Letters(letters):
                return self._add(_Step(letters=letters, goes_to=(then,)))
            case Assertion(kind):
                return self._add(_Step(assertion=kind, goes_to=(then,)))
            case Alternatives(choices):
                return self._add(_Step(goes_to=tuple(self._compile(choice, then) for choice in choices)))
            case Repeated():
                return self._compile_repeated(node, then)
            case _:
                for part in reversed(node.parts):
                    then = self._compile(part, then)
                return then

    def _compile_repeated(self, node: Repeated, then: int) -> int:
        if node.at_most is None:
            loop = self._add(_Step())
            self._program[loop] = _Step(goes_to=(self._compile(node.part, loop), then))
            then = loop
        else:
            end = then
            for _ in range(node.at_most - node.at_least):
                then = self._add(_Step(goes_to=(self._compile(node.part, then), end)))
        for _ in range(node.at_least):
            then = self._compile(node.part, then)
        return then


def _holds(assertion: str, before: int, letter: str) -> bool:
    match assertion:
        case "":
            return True
        case "start":
            return before == _START
        case "end":
            return not letter
        case _:
            is_boundary = (before == _IN_WORD) != (letter in WORD)
            return is_boundary == (assertion == "boundary")
