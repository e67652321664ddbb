"""Generates orders at a given rate, the same ones for the same seed: for demos and measurements."""

import random

from broker.connect.api import (
    ConfigDef,
    ConfigKey,
    ConfigType,
    Field,
    Schema,
    SourceRecord,
    SourceTaskContext,
    Struct,
    Type,
)
from broker.connect.api.config import between, not_empty
from broker.connect.api.plugin import Props
from broker.connect.api.schema import FLOAT64, INT64, STRING
from broker.connect.plugins.own_props import OneTaskSource
from broker.connect.plugins.ticks import TickingTask

ORDER = Schema(
    Type.STRUCT,
    name="barnabas.Order",
    fields=(Field("id", INT64), Field("customer", STRING), Field("item", STRING), Field("price", FLOAT64)),
)
_ITEMS = ("apple", "bread", "cheese", "pear", "salt", "tea")


class DatagenTask(TickingTask):
    def start(self, props: Props, context: SourceTaskContext) -> None:
        values = DatagenSourceConnector.CONFIG.parse(props)
        self._topic, self._seed = values["topic"], values["seed"]
        self._interval_s, self._batch = values["interval.ms"] / 1000, values["batch.size"]
        self._most = values["iterations"]
        self._partition = {"datagen": self._topic}
        self._made = int((context.offset_reader.offset(self._partition) or {}).get("id", 0))

    def tick(self, now_ms: int) -> list[SourceRecord]:
        first = self._made + 1
        last = self._made + self._batch if self._most < 0 else min(self._made + self._batch, self._most)
        self._made = max(self._made, last)
        return [self._record(number, now_ms) for number in range(first, last + 1)]

    def _record(self, number: int, now_ms: int) -> SourceRecord:
        """Return a record that depends on seed and number alone: a restarted task makes the same ones."""
        chance = random.Random(self._seed * 1_000_003 + number)
        customer = f"customer-{chance.randrange(100)}"
        price = chance.randrange(100, 10_000) / 100
        order = {"id": number, "customer": customer, "item": chance.choice(_ITEMS), "price": price}
        offset = {"id": number}
        return SourceRecord(
            self._partition, offset, self._topic, None, STRING, customer, ORDER, Struct(ORDER, order), now_ms
        )


class DatagenSourceConnector(OneTaskSource):
    """Orders of 100 customers."""

    task_class = DatagenTask
    CONFIG = ConfigDef(
        ConfigKey("topic", documentation="The topic of the orders.", validator=not_empty),
        ConfigKey("interval.ms", ConfigType.INT, 1_000, documentation="Between two batches.", validator=between(1)),
        ConfigKey("batch.size", ConfigType.INT, 1, documentation="Orders of a batch.", validator=between(1, 10_000)),
        ConfigKey("iterations", ConfigType.LONG, -1, documentation="Orders in all; -1: without end."),
        ConfigKey("seed", ConfigType.LONG, 1, documentation="Another seed, other orders."),
    )

    def exactly_once_support(self, props: Props) -> bool | None:
        return True
