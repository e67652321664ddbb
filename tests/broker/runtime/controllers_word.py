"""What a controller says of the cluster, taken at once: a broker that serves others takes it in turns."""

from collections import deque

from broker.protocol.messages.update_metadata import UpdateMetadataRequest
from broker.runtime.metadata_cache import MetadataCache


def tell_all(metadata: MetadataCache, request: UpdateMetadataRequest) -> None:
    deque(metadata.apply(request), maxlen=0)
