"""What was counted, as the page draws it. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Share:
    """`count` of `whole`, in percent."""

    name: str
    count: int
    whole: int
    detail: str = ""
    example: str = ""

    @property
    def percent(self) -> str:
        if not self.whole:
            return "–"
        share = 100 * self.count / self.whole
        return f"{share:.0f} %" if share in (0, 100) else f"{min(max(share, 0.1), 99.9):.1f} %"


@dataclass(frozen=True, slots=True)
class ProfilePage:
    profile: dict[str, Any]

    @property
    def facts(self) -> list[Share]:
        whole = self.profile["records"]
        named = {
            "Without a value": self.profile["tombstones"],
            "Value of no bytes": self.profile["empty_values"],
            "Without a key": self.profile["keys"]["none"],
            "With headers": self.profile["with_headers"],
            "Without a time": self.profile["order"]["no_time"],
        }
        return [Share(name, count, whole) for name, count in named.items()]

    @property
    def keys(self) -> list[Share]:
        return [Share(key, count, self.profile["records"]) for key, count in self.profile["keys"]["top"]]

    @property
    def sizes(self) -> list[tuple[str, dict[str, int]]]:
        names = {"key": "Key", "value": "Value", "record": "Record, uncompressed"}
        return [(names[part], figures) for part, figures in self.profile["sizes"].items() if figures]

    @property
    def headers(self) -> list[Share]:
        return [Share(name, count, self.profile["records"]) for name, count in self.profile["headers"]]

    @property
    def formats(self) -> Iterator[tuple[str, list[Share]]]:
        whole = self.profile["looked_into"]
        for part, counts in self.profile["formats"].items():
            yield part.capitalize(), [Share(name, count, whole) for name, count in counts]

    @property
    def fields(self) -> list[Share]:
        return [
            Share(
                f"{part}{'' if path.startswith('[') else '.'}{path}", count, fields["documents"], _kinds(kinds), example
            )
            for part, fields in self.profile["fields"].items()
            for path, count, kinds, example in fields["rows"]
        ]

    @property
    def documents_left_out(self) -> int:
        return sum(fields["left_out"] for fields in self.profile["fields"].values())

    @property
    def codecs(self) -> list[Share]:
        batches = self.profile["batches"]
        return [Share(name, count, batches["count"]) for name, count in batches["codecs"]]


def _kinds(kinds: list[tuple[str, int]]) -> str:
    return ", ".join(name if len(kinds) == 1 else f"{name} {count:,}" for name, count in kinds)
