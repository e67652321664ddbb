"""UnregisterBroker: agree that a broker which stopped is gone. Its registration in ZooKeeper ended with its session."""

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.authorization import require_on_cluster
from broker.handlers.describe_cluster import stopped_with_replicas
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation


async def handle_unregister_broker(
    request: UnregisterBrokerRequest, context: RequestContext
) -> UnregisterBrokerResponse:
    """Refuse for a broker that runs, and for one that no assignment names; its replicas stay assigned, as in Kafka."""
    broker_id = request.broker_id
    try:
        require_on_cluster(AclOperation.ALTER, context)
        if context.services.metadata.is_live(broker_id):
            running = f"Broker {broker_id} is running: stop it, and its registration in ZooKeeper ends."
            raise ApiError(ErrorCode.INVALID_REQUEST, running)
        if broker_id not in await stopped_with_replicas(context):
            unknown = f"Broker ID {broker_id} is not currently registered"
            raise ApiError(ErrorCode.BROKER_ID_NOT_REGISTERED, unknown)
    except ApiError as error:
        return UnregisterBrokerResponse(error_code=error.code, error_message=error.message)
    return UnregisterBrokerResponse(error_message=None)


HANDLER = public(ApiKey.UNREGISTER_BROKER, 0, 0, handle_unregister_broker)
