"""The list of what this broker serves. What is not here does not exist; ApiVersions is computed from it."""

from broker.handlers import (
    create_topics,
    delete_groups,
    delete_topics,
    describe_cluster,
    describe_groups,
    fetch,
    find_coordinator,
    heartbeat,
    init_producer_id,
    join_group,
    leader_and_isr,
    leave_group,
    list_groups,
    list_offsets,
    metadata,
    offset_commit,
    offset_fetch,
    produce,
    stop_replica,
    sync_group,
    update_metadata,
)
from broker.handlers.api_versions import api_versions_handler
from broker.handlers.handler import Handler

_SERVED: tuple[Handler, ...] = (
    produce.HANDLER,
    fetch.HANDLER,
    list_offsets.HANDLER,
    metadata.HANDLER,
    leader_and_isr.HANDLER,
    stop_replica.HANDLER,
    update_metadata.HANDLER,
    offset_commit.HANDLER,
    offset_fetch.HANDLER,
    find_coordinator.HANDLER,
    join_group.HANDLER,
    heartbeat.HANDLER,
    leave_group.HANDLER,
    sync_group.HANDLER,
    describe_groups.HANDLER,
    list_groups.HANDLER,
    create_topics.HANDLER,
    delete_topics.HANDLER,
    init_producer_id.HANDLER,
    delete_groups.HANDLER,
    describe_cluster.HANDLER,
)

HANDLERS: tuple[Handler, ...] = (*_SERVED, api_versions_handler(_SERVED))
