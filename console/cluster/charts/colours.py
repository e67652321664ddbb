"""The colour of an object in every chart: its own, whoever is drawn beside it. Pure.

A place in a list is no colour: the fourth largest group is another one a minute later.
"""

from zlib import crc32

#: Of the palette: `--series-1` to `--series-12` of static/css/tokens.css.
COLOURS = 12
#: The colour of a sum over all objects, which is none of theirs.
TOTAL = 0
#: Lines of one colour in one chart are told apart by their dashes: none, long, short.
PATTERNS = 3
#: Those that brokers get most; each has a colour to itself.
_APIS = (
    "Produce",
    "Metadata",
    "OffsetCommit",
    "Heartbeat",
    "OffsetFetch",
    "FindCoordinator",
    "ListOffsets",
    "ApiVersions",
    "DescribeGroups",
    "OffsetForLeaderEpoch",
    "InitProducerId",
    "DescribeConfigs",
)


def colour_of_number(number: int) -> int:
    """Return the colour of a broker, a partition, or what else has a number: those side by side differ."""
    return (number - 1) % COLOURS + 1


def colour_of_api(api: str) -> int:
    return _APIS.index(api) + 1 if api in _APIS else colour_of_name(api)


def colour_of_name(name: str) -> int:
    """Return a colour that two names may share, for what has no number."""
    return crc32(name.encode()) % COLOURS + 1
