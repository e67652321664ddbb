"""What is limited for whom, and what is used of it, as the collector last saw it."""

from dataclasses import asdict, dataclass
from hashlib import sha256

from django.db import models

from console.cluster.quotas.amounts import amount, label
from console.kit.common.figures import grouped
from console.kit.common.stored_fields import from_stored
from console.kit.gateway.quotas.interface import LABEL_ORDER, QuotaEntity, entity_at


@dataclass(frozen=True, slots=True)
class ObservedQuotaUse:
    """The use of a quota by the clients that share it on one broker. `wait_ms`: told to wait, of each second between
    the last two looks, and at most all of it; None: not looked at twice.
    """

    broker_id: int
    key: str
    who: str
    user: str
    client_id: str
    ip: str
    limit: float
    rate: float
    wait_ms: int | None
    #: Since when they are held back, with pauses of at most `rows.HELD_PAUSE_MS`; None: they are not.
    held_since_ms: int | None = None
    #: The highest rate of the last minutes.
    rate_max: float = 0.0

    @property
    def share(self) -> float:
        """The rate as a share of the limit, 1.0 at the limit."""
        return self.rate / self.limit if self.limit else 1.0

    @property
    def percent(self) -> int:
        return min(100, round(100 * self.share))

    @property
    def tone(self) -> str:
        return "warning" if self.wait_ms or self.share >= 1 else "ok"

    @property
    def rate_text(self) -> str:
        return amount(self.key, self.rate)

    @property
    def is_held(self) -> bool:
        """Whether it waits now or waited within the last minutes: a client that is held back writes in bursts."""
        return bool(self.wait_ms) or self.held_since_ms is not None

    @property
    def peak(self) -> float:
        """The highest rate of the last minutes."""
        return max(self.rate, self.rate_max)

    @property
    def wait_text(self) -> str:
        """Return how long it is told to wait; empty while it need not. Several connections wait for themselves."""
        if not self.wait_ms:
            return ""
        return "waits all the time" if self.wait_ms >= 1_000 else f"waits {grouped(self.wait_ms)} ms of each second"

    def as_json(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Limit:
    """One kind of quota of a row, with the use of it that is nearest to the limit, and how many there are."""

    key: str
    value: float
    nearest: ObservedQuotaUse | None
    use_count: int

    @property
    def label(self) -> str:
        return label(self.key)

    @property
    def text(self) -> str:
        return amount(self.key, self.value)


class QuotaRow(models.Model):
    """An entity that has quotas. `digest` is of its path below /config, which may be longer than an index takes."""

    digest = models.CharField(max_length=64, unique=True)
    path = models.TextField()
    words = models.TextField()
    #: Its place in the order in which quotas count; those of addresses come behind.
    rank = models.IntegerField()
    values = models.JSONField(default=dict)
    #: ObservedQuotaUse as JSON, those nearest to their limits first, and how many there are of each kind.
    uses = models.JSONField(default=list)
    use_counts = models.JSONField(default=dict)
    #: Since when some of those who share it are held back; None: none is.
    held_since_ms = models.BigIntegerField(null=True)

    class Meta:
        ordering = ["rank", "words"]

    def __str__(self) -> str:
        return self.words

    @property
    def entity(self) -> QuotaEntity:
        return entity_at(self.path) or QuotaEntity()

    @property
    def seen(self) -> list[ObservedQuotaUse]:
        return [from_stored(ObservedQuotaUse, use) for use in self.uses]

    @property
    def limits(self) -> list[Limit]:
        seen = self.seen
        return [
            Limit(
                key,
                self.values[key],
                next((item for item in seen if item.key == key), None),
                self.use_counts.get(key, 0),
            )
            for key in LABEL_ORDER
            if key in self.values
        ]

    @property
    def is_throttled(self) -> bool:
        return any(use.wait_ms for use in self.seen)


class QuotaLook(models.Model):
    """One row: when quotas were last listed, and why not since, with Kafka's error code if there is one."""

    at_ms = models.BigIntegerField(default=0)
    error = models.TextField(blank=True)
    code = models.CharField(max_length=60, blank=True)

    def __str__(self) -> str:
        return self.error or "quotas are known"


def digest_of_path(path: str) -> str:
    return sha256(path.encode()).hexdigest()
