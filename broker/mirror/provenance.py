"""Where records have been before: by the producer id that stands in each batch, which a mirror tells before it writes.

A mirror that reads a batch knows by its producer id who wrote it: a client, or a mirror that brought it from elsewhere.
A producer id is given once in a cluster and never again, so one look is enough for each; and since a mirror tells its
ids before the first record, the look needs no more than the end of the ledger as it is when the batch is there. Records
go without a header of ours, byte by byte as they were; neither names of topics nor of clusters have to be different.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable

from broker.mirror.ledger import MirrorLedger
from broker.records.batch import NO_PRODUCER_ID

#: Producer ids known to be clients'; one asked for again costs the end of the ledger once more.
_KNOWN_MAX = 100_000

#: Ids of clusters, the first one first.
Clusters = tuple[str, ...]


class Provenance:
    """Provenance of the records read from one cluster."""

    def __init__(self, ledger: MirrorLedger, cluster_id: str):
        self._ledger, self._cluster_id = ledger, cluster_id
        self._known: OrderedDict[int, Clusters] = OrderedDict()

    def of(self, producer_ids: Iterable[int]) -> Callable[[int], Clusters]:
        """Return the clusters that the records of each producer id have been in, this one last. May read the ledger."""
        if any(producer_id not in self._known and producer_id != NO_PRODUCER_ID for producer_id in producer_ids):
            self._ledger.read_to_end()
        return self._of

    def _of(self, producer_id: int) -> Clusters:
        if producer_id == NO_PRODUCER_ID:
            return (self._cluster_id,)
        if producer_id not in self._known:
            producer = self._ledger.producers.get(producer_id)
            self._known[producer_id] = (*(producer.clusters if producer else ()), self._cluster_id)
            if len(self._known) > _KNOWN_MAX:
                self._known.popitem(last=False)
        return self._known[producer_id]
