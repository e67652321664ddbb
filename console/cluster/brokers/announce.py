"""Pushing what is known of each broker to the pages that show it; a partial goes out only if it reads differently."""

import threading
from collections.abc import Callable, Collection

from django.template.loader import render_to_string

from console.cluster.brokers.feature import broker_group
from console.cluster.brokers.queries import broker_facts
from console.kit.access.reach import EVERYTHING
from console.kit.common.clock import now_ms
from console.kit.features.headers import figures_html
from console.kit.live.audience import listened
from console.kit.live.push import send_now
from console.state.clusters.models import Broker
from console.state.clusters.queries import all_brokers

PARTIALS = ("summary", "process", "log-dirs", "biggest", "requests")


class BrokerAnnouncer:
    """Thread-safe. `listened` says which of some groups have listeners: nothing is rendered for the others."""

    def __init__(self, listened: Callable[[Collection[str]], Collection[str]] = listened):
        self._listened = listened
        self._lock = threading.Lock()
        self._sent: dict[tuple[int, str], str] = {}
        #: What a broker held when it was last looked at.
        self._held: dict[int, tuple[int, int, int]] = {}

    def looked_at(self) -> None:
        with self._lock:
            brokers = all_brokers()
            heard = self._listened([broker_group(broker.broker_id) for broker in brokers])
            shown = {broker.broker_id: broker for broker in brokers if broker_group(broker.broker_id) in heard}
            self._forget_all_but(shown.keys())
            messages = [message for broker in shown.values() for message in self._of(broker)]
        send_now(messages)

    def _forget_all_but(self, shown: Collection[int]) -> None:
        """Forget the values last sent of pages that are closed: a page opened later has not seen them."""
        self._sent = {key: html for key, html in self._sent.items() if key[0] in shown}
        self._held = {broker_id: held for broker_id, held in self._held.items() if broker_id in shown}

    def _of(self, broker: Broker) -> list[tuple[str, str]]:
        facts, messages = broker_facts(broker), []
        rendered: dict[str, str] = {name: render_to_string(f"brokers/partials/{name}.html", facts) for name in PARTIALS}
        rendered["figures"] = figures_html("broker", broker, EVERYTHING)
        for name, html in rendered.items():
            if self._sent.get((broker.broker_id, name)) != html:
                self._sent[broker.broker_id, name] = html
                messages.append((broker_group(broker.broker_id), html))
        return [*messages, *self._partitions_of(broker)]

    def _partitions_of(self, broker: Broker) -> list[tuple[str, str]]:
        """Return a push for pages that list the broker's partitions, if it holds or leads others than before."""
        held = (broker.leader_count, broker.replica_count, broker.out_of_sync_count + broker.copying_count)
        known = self._held.get(broker.broker_id)
        self._held[broker.broker_id] = held
        if known in (None, held):
            return []
        return [(broker_group(broker.broker_id), render_to_string("live/resync.html", {"version": now_ms()}))]
