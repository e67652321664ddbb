"""The last line of a log in a sentence about its process, and who is told it."""

from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.kit.access.roles import Right

#: Stands before the last line of its log where a sentence says how a process ended.
LAST_LINE = "; its last line: "
#: The same of a stream job: what Spark complains of it quotes, and that is what is in records.
LAST_LINE_WITH_RECORDS = "; the last line of its log: "


def sentence_within(reach: Reach, sentence: str) -> str:
    """Return the sentence without what a process logged, unless the person may read its log."""
    for mark in marks_kept_from(reach):
        sentence = sentence.partition(mark)[0]
    return sentence


def marks_kept_from(reach: Reach) -> tuple[str, ...]:
    """Return which marks are hidden; what is rendered for everybody (EVERYTHING) hides what viewers may not read."""
    if reach.is_limited_somewhere:
        return LAST_LINE, LAST_LINE_WITH_RECORDS
    if reach is EVERYTHING or reach.is_limited(Resource.TOPIC, Right.RECORDS):
        return (LAST_LINE_WITH_RECORDS,)
    return ()


def without_last_line(sentence: str) -> str:
    """Return the sentence without the log's last line, as everybody may read it."""
    return sentence.partition(LAST_LINE)[0].partition(LAST_LINE_WITH_RECORDS)[0]
