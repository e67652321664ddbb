"""The collector's look at the probe of this host: its present, and the minutes that are not kept yet."""

from collections.abc import Callable
from typing import Any

import httpx2
from django.conf import settings
from django.db.models import QuerySet

from console.ecosystem.probe import store
from console.ecosystem.probe.feature import LIVE_GROUP
from console.ecosystem.probe.status import ProbeStatus, UnexpectedStatusError, read_status
from console.kit.common.bounded_http import client_options
from console.kit.common.kept_statements import kept_rows
from console.kit.gateway.errors import ClusterUnreachableError
from console.kit.live.push import push_partial
from console.processes.models import ManagedProcess
from console.processes.states import Desired
from console.state.consumers.tiers import TierContext, TierLook

#: Thirty minutes of 400 parts.
ANSWER_BYTES_MAX = 32 * 1024 * 1024


def probe_process() -> ManagedProcess | None:
    """Return the probe of this host that is meant to run."""
    return next(iter(kept_rows(_probes_of, settings.HOST_NAME)), None)


def _probes_of(host: str) -> QuerySet[ManagedProcess]:
    rows = ManagedProcess.objects.filter(kind=ManagedProcess.Kind.PROBE, host=host)
    return rows.filter(desired=Desired.RUNNING, is_leaving=False)[:1]


class ProbeCollector:
    """Not thread-safe: one thread uses it."""

    def __init__(self, clock_ms: Callable[[], int]):
        self._now_ms = clock_ms
        self._client: httpx2.Client | None = None

    def look(self) -> bool:
        """Return whether there is something to be watched. Raises ClusterUnreachableError while the probe does not
        answer.
        """
        process = probe_process()
        if process is None:
            self._push_changes(store.forget_present())
            return False
        at_ms = self._now_ms()
        try:
            status = read_status(self._ask(process.ports[0]), at_ms)
        except (httpx2.HTTPError, UnexpectedStatusError) as error:
            self._push_changes(store.save_silence(str(error)[:300] or type(error).__name__, at_ms))
            raise ClusterUnreachableError(f"the probe does not answer: {error}") from None
        self._keep(status, at_ms)
        return bool(status.troubled) or any(since_ms for *_, since_ms, _ in status.brokers)

    def _keep(self, status: ProbeStatus, at_ms: int) -> None:
        is_news = store.save_present(status, at_ms)
        self._push_changes(bool(store.save_minutes(status.minutes, at_ms)) or is_news)

    def _ask(self, port: int) -> bytes:
        if self._client is None:
            options: dict[str, Any] = dict(client_options(None, ANSWER_BYTES_MAX))
            self._client = httpx2.Client(**options)
        answer = self._client.get(f"http://127.0.0.1:{port}/status", params={"since": store.newest_minute_ms()})
        answer.raise_for_status()
        return answer.content

    def _push_changes(self, is_news: bool) -> None:
        if is_news:
            push_partial(LIVE_GROUP, "probe/partials/version.html", {"version": self._now_ms()})


def tier(context: TierContext) -> TierLook:
    return TierLook(ProbeCollector(context.clock_ms).look)
