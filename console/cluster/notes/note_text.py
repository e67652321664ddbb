"""What is said of a topic as people write it, and the change of it as a plan. Pure."""

import re
from dataclasses import asdict, dataclass
from urllib.parse import urlsplit

from console.kit.plans.plan import Plan, PlanLine

CHANGE = "describe topic"
LABELS_MAX, LINKS_MAX = 10, 10
_LABEL = re.compile(r"[a-z0-9][a-z0-9._:/-]{0,39}")
_LINK_LENGTH_MAX = 500


@dataclass(frozen=True, slots=True)
class NoteText:
    """`links`: one on a line, words before the address. All are texts as a form has them."""

    owner: str = ""
    description: str = ""
    labels: str = ""
    links: str = ""

    @property
    def is_nothing(self) -> bool:
        return not any(asdict(self).values())


def parse_labels(text: str) -> str:
    """Parse labels separated by commas or spaces. Raises ValueError."""
    labels = list(dict.fromkeys(text.lower().replace(",", " ").split()))
    for name in labels:
        if not _LABEL.fullmatch(name):
            raise ValueError(f"{name[:60]}: a label has up to 40 letters, digits and . _ : / - in it.")
    if len(labels) > LABELS_MAX:
        raise ValueError(f"At most {LABELS_MAX} labels.")
    return " ".join(labels)


def parse_links(text: str) -> list[list[str]]:
    """Parse words and address of each line; an address alone is named by its host. Raises ValueError."""
    links = []
    for line in filter(None, (line.strip() for line in text.splitlines())):
        words, _, address = line.rpartition(" ")
        host = _host_of(address)
        if not host or len(line) > _LINK_LENGTH_MAX:
            raise ValueError(
                f"{line[:60]}: a link is an address that begins with https:// or http://, words before it."
            )
        links.append([words.strip() or host, address])
    if len(links) > LINKS_MAX:
        raise ValueError(f"At most {LINKS_MAX} links.")
    return links


def _host_of(address: str) -> str:
    """Empty for what a browser should not be led to."""
    try:
        parts = urlsplit(address)
        return (parts.hostname or "") if parts.scheme in ("http", "https") else ""
    except ValueError:
        return ""


def lines_of(links: list[list[str]]) -> str:
    return "\n".join(f"{words} {address}" for words, address in links)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotePlan(Plan):
    now: NoteText
    then: NoteText


def change_plan(topic: str, now: NoteText, then: NoteText) -> NotePlan:
    """Plan the change of a note; without lines if nothing differs."""
    before, after = asdict(now), asdict(then)
    return NotePlan(
        now=now,
        then=then,
        action=CHANGE,
        object_type="topic",
        object_name=topic,
        lines=tuple(PlanLine(name, before[name], after[name]) for name in before if before[name] != after[name]),
        read=tuple(f"{name}={value}" for name, value in before.items()),
        touches=("The console keeps it, for users who may see the topic; the cluster knows nothing of it.",),
        losses=(),
        safe_because="The cluster is not touched.",
        undo="what was said before is kept and can be put back.",
    )
