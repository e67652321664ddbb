"""A cluster asked with our own client: whatever goes wrong on the wire inside is a GatewayError outside."""

from collections.abc import Iterator
from contextlib import contextmanager

from broker.client.cluster import ClusterConnections
from broker.client.errors import ApiNotServed, BrokerUnreachable
from broker.common.errors import ApiError, BarnabasError
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.errors import GatewayError, refusal, unanswered


@contextmanager
def cluster_session(client: ClusterClient, timeout_seconds: float, not_served: str) -> Iterator[ClusterConnections]:
    """Open a session. `not_served`: the sentence for a cluster that does not know the request."""
    try:
        with client.cluster(timeout_seconds) as cluster:
            yield cluster
    except ApiError as error:
        raise refusal(error.code, error.message or "") from error
    except BrokerUnreachable as error:
        raise unanswered(error) from error
    except ApiNotServed as error:
        raise GatewayError(not_served) from error
    except BarnabasError as error:
        raise GatewayError(str(error)) from error
