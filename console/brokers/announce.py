"""Pushing what is known of each broker to the pages that show it; a partial goes out only if it reads differently."""

import threading

from django.template.loader import render_to_string

from console.brokers.queries import broker_facts
from console.clusters.models import Broker
from console.common.clock import now_ms
from console.live import groups
from console.live.push import send_now

PARTIALS = ("summary", "process", "log-dirs", "biggest", "requests")


class BrokerAnnouncer:
    """Thread-safe."""

    def __init__(self):
        self._lock = threading.Lock()
        self._sent: dict[tuple[int, str], str] = {}
        #: What a broker held when it was last looked at.
        self._held: dict[int, tuple[int, int, int]] = {}

    def looked_at(self) -> None:
        with self._lock:
            messages = [message for broker in Broker.objects.all() for message in self._of(broker)]
        send_now(messages)

    def _of(self, broker: Broker) -> list[tuple[str, str]]:
        facts, messages = broker_facts(broker), []
        for name in PARTIALS:
            html = render_to_string(f"brokers/partials/{name}.html", facts)
            if self._sent.get((broker.broker_id, name)) != html:
                self._sent[broker.broker_id, name] = html
                messages.append((groups.broker(broker.broker_id), html))
        return [*messages, *self._partitions_of(broker)]

    def _partitions_of(self, broker: Broker) -> list[tuple[str, str]]:
        """Pages that list its partitions fetch themselves when it holds or leads others than before."""
        held = (broker.leader_count, broker.replica_count, broker.out_of_sync_count + broker.copying_count)
        known = self._held.get(broker.broker_id)
        self._held[broker.broker_id] = held
        if known in (None, held):
            return []
        return [(groups.broker(broker.broker_id), render_to_string("live/resync.html", {"version": now_ms()}))]
