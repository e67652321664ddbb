"""Clients and a counter that take part in the audit, while a job that sums up what they tell is killed."""

import json
import time
from threading import Event, Thread

from confluent_kafka import Producer

from broker.audit.counter import Counter
from broker.audit.hook import AuditedConsumer, AuditedProducer
from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.spark.jobs.message_audit import WINDOWS_TOPIC
from tests.broker.connect.mock_cluster import all_records
from tests.broker.spark.audit.table import Table
from tests.broker.spark.audit.world import TOPIC

_REPORT_S, _WINDOW_MS = 0.5, 2_000


class Counted:
    """A producer, a group and a counter that take part, and one who writes without being counted."""

    def __init__(self, servers):
        self._servers, self._stop, self._counting = {"bootstrap.servers": servers}, Event(), Event()
        self._consumed = self.produced = 0
        self._threads = [Thread(target=item) for item in (self._produce, self._consume)]
        self._counter = Thread(target=self._count)

    def __enter__(self):
        for thread in (*self._threads, self._counter):
            thread.start()
        return self

    def __exit__(self, *_exc):
        self.finish()
        self._counting.set()
        self._counter.join()

    def finish(self):
        """All is produced and consumed; the counter goes on."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _produce(self):
        producer = AuditedProducer(self._servers, "orders", window_ms=_WINDOW_MS, report_every_s=_REPORT_S)
        while not self._stop.wait(0.02):
            for _ in range(5):
                producer.produce(TOPIC, b"%d" % self.produced)
                self.produced += 1
        producer.close()

    def _consume(self):
        config = {**self._servers, "group.id": "billing", "auto.offset.reset": "earliest"}
        consumer = AuditedConsumer(config, Producer(self._servers), window_ms=_WINDOW_MS, report_every_s=_REPORT_S)
        consumer.subscribe([TOPIC])
        deadline = None
        while deadline is None or time.monotonic() < deadline:
            messages = consumer.consume(1_000, 0.2)
            if not self._stop.is_set() or messages:
                deadline = None
            elif deadline is None:
                deadline = time.monotonic() + 2
        consumer.close()

    def _count(self):
        servers = parse_bootstrap_servers(self._servers["bootstrap.servers"])
        options = {"window_ms": _WINDOW_MS, "publish_every_s": _REPORT_S, "exclude": "_.*|barnabas.*"}
        Counter(self._servers, lambda: ClusterConnections(servers), **options).run(self._counting)

    def write_uncounted(self, topic, count):
        producer = Producer(self._servers)
        for number in range(count):
            producer.produce(topic, b"nobody counts %d" % number)
        assert producer.flush(20) == 0


def table_of(servers):
    table = Table()
    for record in all_records(servers, WINDOWS_TOPIC):
        key, value = record.key().decode(), record.value()
        if json.loads(key)[0] == TOPIC:
            table.write([(key, value)])
    return table
