"""Where the topics that a job reads end, asked beside the query: a batch that takes long does not hide what waits.

Whatever keeps an answer away is kept too: it is what the job waits for.
"""

from collections.abc import Mapping, Sequence
from threading import Event, Thread

from confluent_kafka import KafkaException

from broker.common.types import TopicPartition
from broker.spark.cluster import ClientConfig, connect_admin, latest_offsets, partitions_of

LOOK_EVERY_S = 2.0


class InputWatch:
    """`ends` and `trouble` are of the last look; trouble is empty when every partition has answered."""

    def __init__(self, client: ClientConfig, topics: Sequence[str]):
        self._admin = connect_admin(client)
        self._topics = tuple(dict.fromkeys(topics))
        self._stop = Event()
        self._thread = Thread(target=self._look_again, name="input-watch", daemon=True)
        self.ends: Mapping[TopicPartition, int] = {}
        self.trouble = ""

    def __enter__(self) -> "InputWatch":
        if self._topics:
            self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stop.set()

    def look(self) -> None:
        try:
            self.ends = latest_offsets(self._admin, partitions_of(self._admin, self._topics), committed_only=True)
            self.trouble = ""
        except KafkaException as error:
            self.trouble = f"{', '.join(self._topics)}: {error.args[0].str()}"

    def _look_again(self) -> None:
        while not self._stop.is_set():
            self.look()
            self._stop.wait(LOOK_EVERY_S)
