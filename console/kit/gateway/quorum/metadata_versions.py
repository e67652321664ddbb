"""Levels of the feature metadata.version by Kafka's names for them (`kafka-features version-mapping`). Pure."""

FEATURE = "metadata.version"
#: Level 1 of this feature: the controller keeps eligible leader replicas (KIP-966).
ELIGIBLE_LEADERS = "eligible.leader.replicas.version"
#: The first level of each release; the next release's first ends it. 3.3-IV0 is the first that a KRaft cluster keeps.
_FIRST_LEVELS = (
    (1, "3.0", 1),
    (2, "3.1", 0),
    (3, "3.2", 0),
    (4, "3.3", 0),
    (8, "3.4", 0),
    (9, "3.5", 0),
    (12, "3.6", 0),
    (15, "3.7", 0),
    (20, "3.8", 0),
    (21, "3.9", 0),
    (22, "4.0", 0),
    (26, "4.1", 0),
    (28, "4.2", 0),
    (30, "4.3", 0),
    (31, "4.4", 0),
)
_LAST_KNOWN = 33


def release_of(level: int) -> str:
    """Return the release, as `4.4`; empty for a level that is younger than this table."""
    return (
        "" if level > _LAST_KNOWN else next((name for first, name, _ in reversed(_FIRST_LEVELS) if first <= level), "")
    )


def level_text(feature: str, level: int) -> str:
    """Return Kafka's name of a level of metadata.version, as `4.4-IV2`, or else the number."""
    if feature != FEATURE or not release_of(level):
        return str(level)
    first, name, number = next(row for row in reversed(_FIRST_LEVELS) if row[0] <= level)
    return f"{name}-IV{number + level - first}"
