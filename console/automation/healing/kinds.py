"""What there is to heal, how far that goes by itself, and from when on something is a trouble. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class TroubleKind(StrEnum):
    BROKER_GONE = "broker-gone"
    LEADERS = "leaders"
    DISK = "disk"
    HOT = "hot"


class HealingMode(StrEnum):
    OFF = "off"
    PROPOSE = "propose"
    ACT = "act"


@dataclass(frozen=True, slots=True)
class TroubleRule:
    """Rule of one kind. `limit` in percent, of what `TroubleTexts.limit` says; `rate`: bytes a second.

    A trouble lasts for `minutes` before anything is proposed.
    """

    kind: TroubleKind
    mode: HealingMode = HealingMode.PROPOSE
    minutes: int = 15
    limit: int = 0
    rate: int = 20_000_000


@dataclass(frozen=True, slots=True)
class TroubleTexts:
    """`limit`: what is in percent; empty: the kind has none. `copies`: its remedy copies replicas."""

    trouble: str
    remedy: str
    limit: str = ""
    limit_min: int = 0
    limit_max: int = 0
    copies: bool = True


WORDS: Mapping[TroubleKind, TroubleTexts] = {
    TroubleKind.BROKER_GONE: TroubleTexts("A broker is away", "its replicas are moved to the others"),
    TroubleKind.LEADERS: TroubleTexts(
        "Leaders are not where they are preferred",
        "preferred leaders are elected",
        "Partitions that others lead for a broker, % of those it is preferred for",
        1,
        100,
        copies=False,
    ),
    TroubleKind.DISK: TroubleTexts(
        "A disk is fuller than it should be",
        "some replicas are moved to brokers with more room",
        "Used of a broker's disk, %",
        10,
        99,
    ),
    TroubleKind.HOT: TroubleTexts(
        "A broker takes far more than others",
        "some replicas and leaders are moved to others",
        "Bytes that arrive at a broker, % of the mean of all",
        120,
        1_000,
    ),
}
#: As long as nobody has said otherwise. Nothing acts before a person has said so.
DEFAULTS: Mapping[TroubleKind, TroubleRule] = {
    TroubleKind.BROKER_GONE: TroubleRule(TroubleKind.BROKER_GONE, minutes=15),
    TroubleKind.LEADERS: TroubleRule(TroubleKind.LEADERS, minutes=10, limit=10),
    TroubleKind.DISK: TroubleRule(TroubleKind.DISK, minutes=10, limit=80),
    TroubleKind.HOT: TroubleRule(TroubleKind.HOT, minutes=30, limit=200),
}
#: Anything shorter would take a restart for a loss.
MINUTES_MIN, MINUTES_MAX = 5, 24 * 60
