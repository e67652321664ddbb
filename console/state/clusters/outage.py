"""Whether what is stored of a cluster still tells its state, and if not, why. Pure."""

from dataclasses import dataclass

from console.kit.common.figures import duration

#: Data older than this is stale; a collector at rest reads the brokers several times in it.
STALE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Outage:
    """Why the state of a cluster is unknown. `cause` is one sentence, `tried` the bootstrap servers.

    Moments are ms since the epoch; `seen_at_ms` is when the cluster was last read, 0: never.
    """

    cause: str
    tried: str
    seen_at_ms: int
    at_ms: int

    @property
    def age(self) -> str:
        """The age of the last data in words."""
        if not self.seen_at_ms:
            return "never read"
        return f"last read {duration(max(0, self.at_ms - self.seen_at_ms))} ago"

    @property
    def evidence(self) -> str:
        return f"{self.age[:1].upper()}{self.age[1:]} · tried {self.tried}"

    @property
    def sentence(self) -> str:
        return f"The state of this cluster is unknown ({self.age}; tried {self.tried}): {self.cause}"


def outage_of(error: str, seen_at_ms: int, heartbeat_at_ms: int, at_ms: int, tried: str) -> Outage | None:
    """Return None while the stored state is current, or nothing was tried yet; `error` is why the last read failed.

    `heartbeat_at_ms` is the collector's last sign of life, 0: not known.
    """
    if error:
        cause = error
    elif not seen_at_ms:
        return None
    elif heartbeat_at_ms and at_ms - heartbeat_at_ms > STALE_MS:
        cause = "The console's collector is silent: see the processes of the console."
    elif heartbeat_at_ms - seen_at_ms > STALE_MS:
        cause = "No broker has answered the collector since."
    else:
        return None
    return Outage(cause, tried, seen_at_ms, at_ms)
