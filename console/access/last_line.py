"""The last line of a log in a sentence about its process, and who is told it."""

from console.access.reach import Reach

#: Stands before the last line of its log where a sentence says how a process ended.
LAST_LINE = "; its last line: "


def sentence_within(reach: Reach, sentence: str) -> str:
    """Of what a process wrote to its log nothing is told to who may not read the log."""
    return without_last_line(sentence) if reach.is_limited_somewhere else sentence


def without_last_line(sentence: str) -> str:
    """As everybody may read it."""
    return sentence.partition(LAST_LINE)[0]
