"""Rules as Kafka's tools print them. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from broker.security.acls.filters import PatternFilter
from broker.security.acls.model import AclEntry, Pattern


def text_of_pattern(pattern: Pattern | PatternFilter) -> str:
    """Format the pattern as Kafka's ResourcePattern and ResourcePatternFilter do."""
    shape = "ResourcePattern" if isinstance(pattern, Pattern) else "ResourcePatternFilter"
    return f"{shape}(resourceType={pattern.kind.name}, name={pattern.name}, patternType={pattern.type.name})"


def text_of_entry(entry: AclEntry) -> str:
    return (
        f"(principal={entry.principal}, host={entry.host}, operation={entry.operation.name}, "
        f"permissionType={entry.permission.name})"
    )


def lines_of(entries: Iterable[AclEntry]) -> str:
    """Format the entries with the blanks of Kafka's own output."""
    return "\n " + "\n".join(f"\t{text_of_entry(entry)}" for entry in entries) + " \n"


def as_json(rules: Mapping[Pattern, Iterable[AclEntry]]) -> list[dict[str, Any]]:
    return [
        {
            "resourceType": pattern.kind.name,
            "name": pattern.name,
            "patternType": pattern.type.name,
            "acls": [
                {
                    "principal": entry.principal,
                    "host": entry.host,
                    "operation": entry.operation.name,
                    "permissionType": entry.permission.name,
                }
                for entry in entries
            ],
        }
        for pattern, entries in rules.items()
    ]
