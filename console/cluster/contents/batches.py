"""How records were sent together: codecs, and how much a batch holds. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from console.cluster.contents.estimates import Sizes
from console.kit.gateway.records.interface import BatchView


def told_of(batches: Sequence[BatchView]) -> dict[str, Any]:
    records, sizes = Sizes(), Sizes()
    for each in batches:
        records.add(each.records)
        sizes.add(each.size_bytes)
    codecs = Counter(each.compression for each in batches)
    return {
        "count": len(batches),
        "codecs": [list(each) for each in codecs.most_common()],
        "transactional": sum(each.is_transactional for each in batches),
        "records": dict(records.figures()),
        "bytes": dict(sizes.figures()),
    }
