"""CreateTopics: new topics, placed by the cluster or by hand."""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, boolean, int8, int16, int32, string, uuid, wire


class CreatableReplicaAssignment(Struct):
    partition_index: int = wire(int32)
    broker_ids: list[int] = wire(array(int32))  #: preferred leader first


class CreatableTopicConfig(Struct):
    name: str = wire(string)
    value: str | None = wire(string, nullable=True)


class CreatableTopic(Struct):
    name: str = wire(string)
    num_partitions: int = wire(int32)  #: -1 for the broker's default (version 4) or with assignments
    replication_factor: int = wire(int16)  #: -1 for the broker's default (version 4) or with assignments
    assignments: list[CreatableReplicaAssignment] = wire(array(CreatableReplicaAssignment))  #: empty: placed for you
    configs: list[CreatableTopicConfig] = wire(array(CreatableTopicConfig))


class CreateTopicsRequest(Request["CreateTopicsResponse"], api=ApiKey.CREATE_TOPICS, versions=(0, 7), flexible_from=5):
    """Create some topics, each succeeding or failing alone.

    1: validate only. 4: partitions and replication factor may be left to the broker (KIP-464).
    """

    topics: list[CreatableTopic] = wire(array(CreatableTopic))
    timeout_ms: int = wire(int32, default=60_000)
    validate_only: bool = wire(boolean, since=1)


class CreatableTopicConfigs(Struct):
    name: str = wire(string)
    value: str | None = wire(string, nullable=True)
    read_only: bool = wire(boolean)
    config_source: int = wire(int8, default=-1, ignorable=True)
    is_sensitive: bool = wire(boolean)


class CreatableTopicResult(Struct):
    name: str = wire(string)
    topic_id: UUID = wire(uuid, since=7, ignorable=True)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, since=1, nullable=True, default=None, ignorable=True)
    topic_config_error_code: int = wire(int16, since=5, tag=0, ignorable=True)  #: why configs is null
    num_partitions: int = wire(int32, since=5, default=-1, ignorable=True)
    replication_factor: int = wire(int16, since=5, default=-1, ignorable=True)
    configs: list[CreatableTopicConfigs] | None = wire(
        array(CreatableTopicConfigs), since=5, nullable=True, ignorable=True
    )


class CreateTopicsResponse(Message, api=ApiKey.CREATE_TOPICS, versions=(0, 7), flexible_from=5):
    """One result for each topic. 1: error messages. 2: throttle time. 5: the configuration (KIP-525). 7: topic ids."""

    throttle_time_ms: int = wire(int32, since=2, ignorable=True)
    topics: list[CreatableTopicResult] = wire(array(CreatableTopicResult))
