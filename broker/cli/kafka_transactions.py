"""`kafka-transactions`: open transactions, those that hang, and the end of one that does (KIP-664)."""

import time
from collections.abc import Iterable, Sequence
from typing import Any

from broker.cli.frame.answers import check, int32, int64
from broker.cli.frame.connecting import BOOTSTRAP_SERVER, COMMAND_CONFIG, connected
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option, UsageError
from broker.cli.frame.output import OUTPUT, ProgressLine, print_json, wants_json
from broker.cli.frame.zookeeper import ZK_TLS, ZOOKEEPER_DIGEST, ZooKeeperAccess
from broker.cli.logs.transaction_tables import (
    DESCRIBE,
    HANGING,
    LIST,
    NONE,
    PRODUCERS,
    ProducerTransaction,
    or_none,
    table,
)
from broker.client.cluster import ClusterConnections
from broker.client.coordinators import Coordinators
from broker.client.leaders import Leaders
from broker.common.errors import ApiError, ErrorCode
from broker.common.types import NO_BROKER, TopicPartition
from broker.protocol.messages.describe_producers import DescribeProducersRequest, ProducerState, TopicRequest
from broker.protocol.messages.describe_transactions import DescribeTransactionsRequest, TransactionState
from broker.protocol.messages.find_coordinator import CoordinatorType, FindCoordinatorRequest
from broker.protocol.messages.list_transactions import ListTransactionsRequest
from broker.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from broker.security.membership import NONCE_BYTES, ClusterMembership

_MINUTE_MS = 60_000
_ONE_KEY = 3
_ZOOKEEPER_FOR_SECRET = (
    Option(
        "zookeeper",
        "Address of the cluster's ZooKeeper: a user who can read the cluster's secret there may ask as a member.",
        "HOST:PORT,…[/CHROOT]",
    ),
    ZOOKEEPER_DIGEST,
    ZK_TLS,
)


def _list(arguments: Arguments) -> None:
    with connected(arguments) as cluster:
        listed = _listed(cluster, arguments["duration-filter"])
    _print(arguments, LIST, listed)


def _listed(cluster: ClusterConnections, duration_ms: int) -> list[tuple[str, int, int, str]]:
    rows = []
    for broker in sorted(cluster.brokers()):
        answer = cluster.ask_broker(broker, ListTransactionsRequest(duration_filter=duration_ms))
        check(answer.error_code)
        rows += [
            (state.transactional_id, broker, state.producer_id, state.transaction_state)
            for state in answer.transaction_states
        ]
    return sorted(rows)


def _describe(arguments: Arguments) -> None:
    name = arguments["transactional-id"]
    with connected(arguments) as cluster:
        described = _described(cluster, name)
        coordinator = cluster.ask_any(
            FindCoordinatorRequest(key=name, key_type=CoordinatorType.TRANSACTION), version_max=_ONE_KEY
        ).node_id
    partitions = [f"{topic.topic}-{index}" for topic in described.topics for index in sorted(topic.partitions)]
    started = described.transaction_start_time_ms
    _print(
        arguments,
        DESCRIBE,
        [
            (
                coordinator,
                name,
                described.producer_id,
                described.producer_epoch,
                described.transaction_state,
                described.transaction_timeout_ms,
                or_none(started),
                NONE if started < 0 else _now_ms() - started,
                ",".join(partitions),
            )
        ],
    )


def _described(cluster: ClusterConnections, name: str) -> TransactionState:
    request = DescribeTransactionsRequest(transactional_ids=[name])
    answer = Coordinators(cluster).ask(CoordinatorType.TRANSACTION, name, request, _error_code)
    state: TransactionState = answer.transaction_states[0]
    return state


def _error_code(answer: Any) -> int:
    code: int = answer.transaction_states[0].error_code
    return code


def _describe_producers(arguments: Arguments) -> None:
    with connected(arguments) as cluster:
        producers = _producers(cluster, _partition(arguments), arguments["broker-id"])
    _print(
        arguments,
        PRODUCERS,
        [
            (
                producer.producer_id,
                producer.producer_epoch,
                or_none(producer.coordinator_epoch),
                producer.last_sequence,
                producer.last_timestamp,
                or_none(producer.current_txn_start_offset),
            )
            for producer in producers
        ],
    )


def _producers(cluster: ClusterConnections, partition: TopicPartition, broker: int | None) -> list[ProducerState]:
    """Return producer states of the leader, unless another replica is named."""
    topics = [TopicRequest(name=partition.topic, partition_indexes=[partition.partition])]
    request = DescribeProducersRequest(topics=topics)
    if broker is None:
        answer = Leaders(cluster).connection(partition).ask(request)
    else:
        answer = cluster.ask_broker(broker, request)
    ((partition_response,),) = ([*topic.partitions] for topic in answer.topics)
    check(partition_response.error_code, partition_response.error_message)
    producers: list[ProducerState] = partition_response.active_producers
    return producers


def _abort(arguments: Arguments) -> None:
    """Abort a transaction, found by its first offset or, before Kafka 3.0, by all fields of its marker."""
    partition = _partition(arguments)
    with connected(arguments) as cluster:
        marker = _marker(cluster, arguments, partition)
        connection = Leaders(cluster).connection(partition)
        answer = connection.ask(WriteTxnMarkersRequest(markers=[marker]), membership=_membership(arguments))
    code = answer.markers[0].topics[0].partitions[0].error_code
    if code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        raise CommandError(
            "The brokers let only members of the cluster end a transaction: name their ZooKeeper by --zookeeper, where "
            "the cluster's secret is."
        )
    check(code)
    if wants_json(arguments):
        print_json({"aborted": str(partition), "producerId": marker.producer_id, "epoch": marker.producer_epoch})


def _marker(cluster: ClusterConnections, arguments: Arguments, partition: TopicPartition) -> WritableTxnMarker:
    if arguments.given("start-offset") == arguments.given("producer-id"):
        raise UsageError(
            "The transaction to abort must be specified either with --start-offset or with --producer-id, "
            "--producer-epoch and --coordinator-epoch"
        )
    if arguments.given("start-offset"):
        offset = arguments["start-offset"]
        producers = [
            producer for producer in _producers(cluster, partition, None) if producer.current_txn_start_offset == offset
        ]
        if not producers:
            raise CommandError(
                f"Could not find any open transactions starting at offset {offset} on partition {partition}"
            )
        producer_id, epoch, coordinator_epoch = (
            producers[0].producer_id,
            producers[0].producer_epoch,
            producers[0].coordinator_epoch,
        )
    else:
        for name in ("producer-epoch", "coordinator-epoch"):
            if not arguments.given(name):
                raise UsageError(f'Missing required argument "[{name}]"')
        producer_id, epoch = arguments["producer-id"], arguments["producer-epoch"]
        coordinator_epoch = arguments["coordinator-epoch"]
    return WritableTxnMarker(
        producer_id=producer_id,
        producer_epoch=epoch,
        transaction_result=False,
        topics=[WritableTxnMarkerTopic(name=partition.topic, partition_indexes=[partition.partition])],
        coordinator_epoch=max(coordinator_epoch, 0),
    )


def _find_hanging(arguments: Arguments) -> None:
    """Open for longer than any transaction may take, and no coordinator knows of it in this partition."""
    if not arguments["topic"] and arguments["broker-id"] is None:
        raise UsageError(
            "The `find-hanging` command requires either --topic or --broker-id to limit the scope of the search"
        )
    if arguments["partition"] is not None and not arguments["topic"]:
        raise UsageError("The --partition argument requires --topic to be provided as well")
    now_ms, age_ms = _now_ms(), arguments["max-transaction-timeout"] * _MINUTE_MS
    with connected(arguments) as cluster, ProgressLine() as progress:
        partitions = _searched(cluster, arguments)
        suspects: list[ProducerTransaction] = []
        for number, partition in enumerate(partitions):
            progress.show(f"{number} of {len(partitions)} partitions")
            for producer in _open(partition, _producers(cluster, partition, arguments["broker-id"])):
                if producer.is_old(now_ms, age_ms):
                    suspects.append(producer)
        hanging = [suspect for suspect in suspects if not _is_known(cluster, suspect)] if suspects else []
    _print(arguments, HANGING, [row.row(now_ms) for row in hanging])


def _searched(cluster: ClusterConnections, arguments: Arguments) -> list[TopicPartition]:
    """Return the partitions of the topic, or all; with a broker those that it has a replica of."""
    topic, broker = arguments["topic"], arguments["broker-id"]
    described = cluster.describe_topics([topic] if topic else None).topics
    for response_topic in described:
        check(
            response_topic.error_code,
            f"there is no topic {topic!r}" if topic and response_topic.error_code == 3 else None,
        )
    return [
        TopicPartition(transaction.name or "", partition.partition_index)
        for transaction in described
        for partition in transaction.partitions
        if (broker is None and partition.leader_id != NO_BROKER) or broker in partition.replica_nodes
        if arguments["partition"] in (None, partition.partition_index)
    ]


def _open(partition: TopicPartition, producers: Iterable[ProducerState]) -> list[ProducerTransaction]:
    return [
        ProducerTransaction(
            *partition,
            producer.producer_id,
            producer.producer_epoch,
            producer.coordinator_epoch,
            producer.current_txn_start_offset,
            producer.last_timestamp,
        )
        for producer in producers
        if producer.current_txn_start_offset >= 0
    ]


def _is_known(cluster: ClusterConnections, suspect: ProducerTransaction) -> bool:
    """Return whether a coordinator says that the producer's transaction covers this partition."""
    for broker in sorted(cluster.brokers()):
        request = ListTransactionsRequest(producer_id_filters=[suspect.producer_id])
        for listed in cluster.ask_broker(broker, request).transaction_states:
            try:
                described = _described(cluster, listed.transactional_id)
            except ApiError as error:
                if error.code is ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                    continue
                raise
            covered = {(topic.topic, index) for topic in described.topics for index in topic.partitions}
            if (suspect.topic, suspect.partition) in covered and described.producer_epoch == suspect.producer_epoch:
                return True
    return False


def _partition(arguments: Arguments) -> TopicPartition:
    return TopicPartition(arguments["topic"], arguments["partition"])


def _print(arguments: Arguments, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    if wants_json(arguments):
        print_json([dict(zip(head, row, strict=True)) for row in rows])
    else:
        print("\n".join(table(head, rows)))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _topic(*, required: bool = True) -> tuple[Option, Option]:
    return (
        Option("topic", "The topic.", "TOPIC", required=required),
        Option("partition", "Its partition.", "N", parse=int32, required=required),
    )


def _membership(arguments: Arguments) -> ClusterMembership | None:
    """Return what makes the command a member of the cluster: what only members may ask is then answered.

    None if no ZooKeeper is named, or for a cluster that has no secret. Raises CommandError.
    """
    connect = arguments["zookeeper"]
    if not connect:
        return None
    import os

    from broker.zookeeper.cluster_secret import read_secret

    files = (arguments["zookeeper-digest-file"] or "", arguments["zk-tls-config-file"] or "")
    secret = ZooKeeperAccess(connect, *files).read(read_secret, "the cluster's secret")
    return ClusterMembership(secret, lambda: os.urandom(NONCE_BYTES).hex()) if secret else None


COMMAND = Command(
    name="kafka-transactions",
    summary="List and describe transactions, find those that hang, and abort them.",
    run=_list,
    options=(BOOTSTRAP_SERVER, COMMAND_CONFIG, OUTPUT),
    subcommands=(
        Command(
            name="list",
            summary="All transactional ids.",
            run=_list,
            options=(Option("duration-filter", "Only transactions open for longer.", "MS", parse=int64, default=-1),),
        ),
        Command(
            name="describe",
            summary="One transactional id.",
            run=_describe,
            options=(Option("transactional-id", "The id.", "ID", required=True),),
        ),
        Command(
            name="describe-producers",
            summary="Show the producers that wrote to a partition lately.",
            run=_describe_producers,
            options=(*_topic(), Option("broker-id", "Ask this replica instead of the leader.", "ID", parse=int32)),
        ),
        Command(
            name="abort",
            summary="End a transaction that hangs, in one partition.",
            run=_abort,
            options=(
                *_topic(),
                Option("start-offset", "Where the transaction began.", "OFFSET", parse=int64),
                Option("producer-id", "Whose it is.", "ID", parse=int64),
                Option("producer-epoch", "Its epoch.", "N", parse=int32),
                Option("coordinator-epoch", "Of the last marker in the partition.", "N", parse=int32),
                *_ZOOKEEPER_FOR_SECRET,
            ),
        ),
        Command(
            name="find-hanging",
            summary="Transactions that no coordinator will end.",
            run=_find_hanging,
            options=(
                Option("broker-id", "Search the partitions of this broker.", "ID", parse=int32),
                *_topic(required=False),
                Option(
                    "max-transaction-timeout",
                    "Minutes after which an open transaction is taken for hanging.",
                    "N",
                    parse=int32,
                    default=15,
                ),
            ),
        ),
    ),
    examples=(
        Example("kafka-transactions --bootstrap-server localhost:9092 list", "which producers have open transactions"),
        Example(
            "kafka-transactions --bootstrap-server localhost:9092 find-hanging --topic orders",
            "what keeps readers of committed records waiting",
        ),
        Example(
            "kafka-transactions --bootstrap-server localhost:9092 abort --topic orders --partition 0 "
            "--start-offset 5 --zookeeper localhost:2181",
            "end it; Barnabas brokers allow this only to users who can read the cluster's secret",
        ),
    ),
)
