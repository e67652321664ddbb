"""How large each replica is, asked of every broker itself: DescribeLogDirs, which the admin client does not have."""

import logging
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from broker.client.connection import BrokerConnection
from broker.common.errors import BarnabasError
from broker.protocol.messages.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse

logger = logging.getLogger(__name__)

_BROKERS_AT_ONCE = 8


def ask_replica_sizes(
    brokers: Iterable[tuple[int, str, int]], timeout_seconds: float
) -> dict[tuple[str, int], dict[int, int]]:
    """(topic, partition) → broker → bytes. `brokers` are (id, host, port); one that does not answer is left out."""
    asked = list(brokers)
    sizes: dict[tuple[str, int], dict[int, int]] = {}
    with ThreadPoolExecutor(_BROKERS_AT_ONCE) as pool:
        answers = pool.map(lambda broker: _ask(*broker, timeout_seconds), asked)
        for (broker_id, _, _), answer in zip(asked, answers, strict=True):
            for name, size in _sizes_in(answer):
                sizes.setdefault(name, {})[broker_id] = size
    return sizes


def _ask(broker_id: int, host: str, port: int, timeout_seconds: float) -> DescribeLogDirsResponse | None:
    try:
        with BrokerConnection(host, port, timeout_s=timeout_seconds) as connection:
            return connection.ask(DescribeLogDirsRequest(topics=None))
    except BarnabasError as error:
        logger.debug("no sizes of broker %s: %s", broker_id, error)
        return None


def _sizes_in(answer: DescribeLogDirsResponse | None) -> Iterable[tuple[tuple[str, int], int]]:
    if answer is None or answer.error_code:
        return
    for directory in answer.results:
        for topic in directory.topics:
            for each in topic.partitions:
                if not each.is_future_key:
                    yield (topic.name, each.partition_index), each.partition_size
