"""Which versions a new schema is compared with, and in which direction. Pure."""

from collections.abc import Iterable, Sequence

from broker.registry.kinds import ParsedSchema
from broker.registry.records import properties_of
from broker.registry.schema import Content, Version


def to_compare(level: str, versions: Sequence[Version]) -> list[Version]:
    """Return the versions to compare with, newest first; without TRANSITIVE only the latest."""
    if level == "NONE":
        return []
    return list(reversed(versions)) if level.endswith("_TRANSITIVE") else list(versions[-1:])


def of_group(versions: Iterable[Version], content: Content, group: str | None) -> list[Version]:
    """Return the versions with the same value of the compatibilityGroup property."""
    if not group:
        return list(versions)
    wanted = properties_of(content).get(group)
    return [version for version in versions if properties_of(version.content).get(group) == wanted]


def incompatibilities(
    level: str, new: ParsedSchema, older: tuple[Version, ParsedSchema], *, lenient: bool
) -> list[str]:
    """Return a sentence for each thing in the way of the new one, then of which version; empty if nothing is.

    Both are of one kind.
    """
    version, parsed = older
    messages = []
    if level.startswith(("BACKWARD", "FULL")):
        messages += new.incompatibilities(parsed, lenient=lenient)
    if level.startswith(("FORWARD", "FULL")):
        messages += parsed.incompatibilities(new, lenient=lenient)
    if not messages:
        return []
    return [
        *messages,
        f"{{oldSchemaVersion: {version.version}}}",
        f"{{oldSchema: '{version.content.text}'}}",
    ]
