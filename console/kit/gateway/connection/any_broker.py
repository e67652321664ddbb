"""What the admin client does not have, asked of any broker or of the controller, with the words for who cannot say."""

from collections.abc import Callable
from typing import Any

from broker.client.cluster import ClusterConnections
from broker.client.errors import ApiNotServed, BrokerUnreachable
from broker.common.errors import BarnabasError, ErrorCode
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.errors import GatewayError, refusal, unanswered

#: A change is written to ZooKeeper, and many users may be described.
_TIMEOUT_S = 10.0


def ask(client: ClusterClient, question: Callable[[ClusterConnections], Any], not_served: str) -> Any:
    """Return the answer to `question`; `not_served` is the sentence for brokers that do not know it.

    Raises GatewayError, with the code UNSUPPORTED_VERSION for those.
    """
    try:
        with client.cluster(_TIMEOUT_S) as cluster:
            return question(cluster)
    except ApiNotServed as error:
        raise refusal(ErrorCode.UNSUPPORTED_VERSION, not_served) from error
    except BrokerUnreachable as error:
        raise unanswered(error) from error
    except BarnabasError as error:
        raise GatewayError(str(error)) from error
