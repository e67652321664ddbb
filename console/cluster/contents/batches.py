"""How records were sent together: codecs, and how much a batch holds. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from console.cluster.contents.estimates import Sizes
from console.kit.gateway.records.interface import BatchView


def told_of(batches: Sequence[BatchView]) -> dict[str, Any]:
    records, sizes = Sizes(), Sizes()
    for batch in batches:
        records.add(batch.records)
        sizes.add(batch.size_bytes)
    codecs = Counter(batch.compression for batch in batches)
    return {
        "count": len(batches),
        "codecs": [list(codec) for codec in codecs.most_common()],
        "transactional": sum(batch.is_transactional for batch in batches),
        "records": dict(records.figures()),
        "bytes": dict(sizes.figures()),
    }
