"""What each broker last said of itself."""

from dataclasses import dataclass

from django.db import models

from console.cluster.brokers.budgets import CrowdedBudget
from console.cluster.brokers.latency import WAITING
from console.kit.common.stored_fields import from_stored

#: A volume is nearly full with less than this part of it left, and full enough to be critical with less than that.
ROOM_WARNING, ROOM_CRITICAL = 0.15, 0.05


@dataclass(frozen=True, slots=True)
class Directory:
    """One of a broker's log directories; offline with an `error`. Bytes of its volume are None if unknown."""

    path: str
    error: str = ""
    total_bytes: int | None = None
    usable_bytes: int | None = None
    size_bytes: int = 0
    replica_count: int = 0
    #: A write was refused there for want of room: in-sync replicas with room lead what it led.
    is_full: bool = False
    #: Logs in it that are of no partition of the broker and were set aside, and their bytes.
    stray_count: int = 0
    stray_bytes: int = 0

    @property
    def used_share(self) -> float | None:
        """The used share of its volume, by any files; 0 to 1."""
        if not self.total_bytes or self.usable_bytes is None:
            return None
        return 1 - self.usable_bytes / self.total_bytes

    @property
    def used_percent(self) -> float | None:
        return None if self.used_share is None else 100 * self.used_share

    @property
    def tone(self) -> str:
        """The colour beside `state`."""
        if self.error or self.is_full:
            return "critical"
        left = 1.0 if self.used_share is None else 1 - self.used_share
        return "critical" if left < ROOM_CRITICAL else "warning" if left < ROOM_WARNING else "ok"

    @property
    def state(self) -> str:
        if self.error:
            return "offline"
        return {"critical": "full", "warning": "nearly full", "ok": "online"}[self.tone]


class BrokerReport(models.Model):
    """What a broker last said of itself when it was asked; a broker that is silent keeps its last report."""

    broker_id = models.IntegerField(unique=True)
    #: When each was said, ms since the epoch; 0: never.
    log_dirs_at_ms = models.BigIntegerField(default=0)
    requests_at_ms = models.BigIntegerField(default=0)
    #: One object per directory: the fields of Directory.
    log_dirs = models.JSONField(default=list)
    #: One object per API: the fields of latency.ApiLatency.
    requests = models.JSONField(default=list)
    #: Files and sockets it has open, and may have; None: it does not run on the collector's host.
    open_files = models.IntegerField(null=True)
    open_files_limit = models.BigIntegerField(null=True)
    #: Listener → when its certificate ends, ms since the epoch; empty: none, or not known.
    certificates = models.JSONField(default=dict)
    #: Coordinators it leads and cannot load, as it last said; what they coordinate stands still.
    groups_not_loaded = models.IntegerField(default=0)
    transactions_not_loaded = models.IntegerField(default=0)
    #: Ids of another Kafka's brokers registered in its ensemble; only the controller knows of any.
    foreign_brokers = models.JSONField(default=list)
    #: Partitions that it compacts no more: the fields of UncleanableLog.
    uncleanable = models.JSONField(default=list)
    #: Bounds that its clients share and are crowded: fields of budgets.CrowdedBudget.
    crowded_budgets = models.JSONField(default=list)
    #: It answers and does not tell how long requests take: only Barnabas brokers do.
    is_untold = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"report of broker {self.broker_id}"

    @property
    def waiting(self) -> frozenset[str]:
        """The APIs among `requests` whose times say nothing about the broker."""
        return WAITING

    @property
    def directories(self) -> list[Directory]:
        return [from_stored(Directory, directory) for directory in self.log_dirs]

    @property
    def budgets(self) -> list[CrowdedBudget]:
        return [from_stored(CrowdedBudget, budget) for budget in self.crowded_budgets]
