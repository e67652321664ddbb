"""Which gateway the rest of the console gets: the real one to the configured cluster, made once per process."""

from functools import cache

from django.conf import settings

from console.gateway.interface import ClusterGateway


@cache
def cluster_gateway() -> ClusterGateway:
    from console.gateway.cluster import KafkaGateway

    return KafkaGateway(settings.BOOTSTRAP_SERVERS)
