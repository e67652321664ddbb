"""Which clients were denied something of late: what brokers have counted between two looks. Pure."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from console.kit.gateway.acls.interface import Denials

WINDOW_MS = 60_000
#: Fewer are a person who tries something; a client that may not do its work is denied again and again.
DENIED_MIN = 3
#: Clients that are kept, those denied most.
CLIENTS_MAX = 20


@dataclass(frozen=True, slots=True)
class DeniedClient:
    """A principal, how often it was denied something within the last minute, and the last denial.

    Its address is on the page of denials alone: reasons of health go to metrics and webhooks.
    """

    principal: str
    operation: str
    resource: str
    name: str
    recent: int
    since_ms: int


@dataclass(slots=True)
class DenialWindow:
    """What all brokers together have counted over the last minute. `own`: the console's principal, left out."""

    own: str = ""
    _seen: deque[tuple[int, dict[str, int]]] = field(default_factory=deque)
    _since_ms: dict[str, int] = field(default_factory=dict)

    def observe(self, denials: Iterable[Denials], at_ms: int) -> list[DeniedClient]:
        """Return who was denied at least DENIED_MIN times, the most often first. The first look tells of nobody."""
        by_principal = {item.principal: item for item in denials if item.last_principal != self.own}
        counts = {principal: item.count for principal, item in by_principal.items()}
        if self._seen and any(counts.get(name, 0) < count for name, count in self._seen[-1][1].items()):
            self._seen.clear()  # a broker has started again, and counts from nothing
        self._seen.append((at_ms, counts))
        while len(self._seen) > 2 and self._seen[1][0] <= at_ms - WINDOW_MS:
            self._seen.popleft()
        before = self._seen[0][1]
        recent = {name: count - before.get(name, 0) for name, count in counts.items()}
        often = {
            name: max(count, 1) for name, count in recent.items() if self._is_told(by_principal[name], count, at_ms)
        }
        self._since_ms = {name: self._since_ms.get(name, by_principal[name].last_at_ms) for name in often}
        clients = [_client(by_principal[name], count, self._since_ms[name]) for name, count in often.items()]
        return sorted(clients, key=lambda client: (-client.recent, client.principal))[:CLIENTS_MAX]

    def _is_told(self, denials: Denials, recent: int, at_ms: int) -> bool:
        """Return whether it is denied often, or was and still is, though what was counted is lost with a broker's
        end.
        """
        was_told = denials.principal in self._since_ms
        return recent >= DENIED_MIN or (was_told and at_ms - denials.last_at_ms < WINDOW_MS)


def _client(denials: Denials, recent: int, since_ms: int) -> DeniedClient:
    return DeniedClient(
        denials.last_principal,
        denials.last_operation,
        denials.last_resource,
        denials.last_name,
        recent,
        since_ms,
    )
