"""Rules to begin with, as the form for a new one offers them. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RuleTemplate:
    """A rule by which the form is filled in; `values` are those of a rule in the file, without its channels."""

    name: str
    title: str
    meaning: str
    values: Mapping[str, Any]


RULE_TEMPLATES = (
    RuleTemplate(
        "under-replicated",
        "Under-replicated partitions",
        "A replica has been out of sync for 1 min.",
        {"measure": "cluster.out_of_sync", "above": 0, "for": "1 min", "clear": "1 min", "severity": "critical"},
    ),
    RuleTemplate(
        "lag",
        "Consumer lag",
        "A group has more than 100,000 unread records for 5 min.",
        {
            "measure": "group.lag",
            "above": 100_000,
            "recover": 10_000,
            "for": "5 min",
            "repeat": "4 h",
            "severity": "warning",
        },
    ),
    RuleTemplate(
        "disk",
        "Disk use",
        "A volume with a broker's logs is more than 80 % full for 5 min.",
        {
            "measure": "broker.disk_used",
            "above": 80,
            "recover": 75,
            "for": "5 min",
            "repeat": "4 h",
            "severity": "critical",
        },
    ),
)


def template_called(name: str) -> RuleTemplate | None:
    """Return the template of that name, None if there is none."""
    return next((template for template in RULE_TEMPLATES if template.name == name), None)
