"""Registrations that a registry refuses again and again, as it tells, and a registry that does not answer."""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass

from console.cluster.schemas.access import is_within
from console.cluster.schemas.registry import registry
from console.kit.access.reach import Reach
from console.kit.common.current_cluster import here
from console.kit.common.stored_fields import from_stored
from console.kit.gateway.errors import GatewayError
from console.state.clusters.models import ClusterState
from console.state.clusters.store import update_state

EVERY_MS = 15_000
#: Fewer are a person who tries something; a producer that cannot go on tries again and again.
REFUSED_MIN = 3
#: A producer that has not tried for longer has given up, or was mended.
RECENT_MS = 300_000
#: A registry that starts, or whose leader changes, takes less.
AWAY_MS = 45_000
#: As Confluent's checkers write each difference; they quote within quotes.
_SENTENCE = re.compile(r"""description:(["'])(.*?)\1, additionalInfo:""")


@dataclass(frozen=True, slots=True)
class RefusedSchema:
    """Refusals of a subject since `first_ms`, and the last of them. `message` may quote the schema."""

    subject: str
    count: int
    first_ms: int
    last_ms: int
    code: int
    message: str
    client: str = ""

    @property
    def sentences(self) -> list[str]:
        """Return what is in the way, a sentence each where the message lists them; else the message."""
        return [sentence for _, sentence in _SENTENCE.findall(self.message)] or [self.message]

    @property
    def is_registered(self) -> bool:
        """Whether the subject has versions, so that it has a page."""
        return self.code == 40901

    @property
    def why(self) -> str:
        """Return the cause in the field's words; `message` has the details."""
        if self.code == 40901:
            return "the schema is incompatible with an earlier version"
        if self.code == 42205:
            return "the mode of the subject does not permit it"
        return "it is no valid schema" if self.code == 42201 else f"error {self.code}"


class RefusalWatch:
    """Watches the subjects whose registrations are refused, for one thread."""

    def __init__(self, clock_ms: Callable[[], int]):
        self._now_ms = clock_ms
        self._looked_at_ms = 0
        self._away_since_ms: int | None = None
        self._kept: tuple[list[RefusedSchema], str] | None = None

    def look(self) -> None:
        """Keep what the registry refuses, and why it has not answered for a while."""
        at_ms = self._now_ms()
        if 0 <= at_ms - self._looked_at_ms < EVERY_MS:
            return
        self._looked_at_ms = at_ms
        seen = ([], "") if here.SCHEMA_REGISTRY is None else self._look_at_registry(at_ms)
        if seen != self._kept:
            refused, error = self._kept = seen
            update_state(refused_schemas=[asdict(item) for item in refused], registry_error=error)

    def _look_at_registry(self, at_ms: int) -> tuple[list[RefusedSchema], str]:
        try:
            refused = [from_stored(RefusedSchema, fields) for fields in registry().refused()]
        except GatewayError as error:
            since_ms = self._away_since_ms = at_ms if self._away_since_ms is None else self._away_since_ms
            return [], str(error) if at_ms - since_ms >= AWAY_MS else ""
        self._away_since_ms = None
        return [item for item in refused if item.count >= REFUSED_MIN and at_ms - item.last_ms < RECENT_MS], ""


def refused_within(state: ClusterState, reach: Reach) -> tuple[RefusedSchema, ...]:
    """Return the refusals of subjects in reach, the last refused first."""
    refused = (from_stored(RefusedSchema, item) for item in state.refused_schemas)
    return tuple(item for item in refused if is_within(reach, item.subject))
