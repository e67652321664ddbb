"""What it costs a broker to count what it appends (`barnabas.audit.enable`): requests of one record, and of many, to a
topic that is counted and to one that is not, in turn on the same broker, by rate and by CPU.
"""

import statistics
from collections.abc import Callable

import psutil

from tests.barnabas_cluster import running_cluster
from tests.bench.loads import Target
from tests.bench.raw import RawConnection, pipelined, produce_frame

ROUNDS = 20
SECONDS = 1.0


def figures() -> dict[str, Callable[[], str]]:
    return {
        "audit: requests of 1 record, 32 in flight": lambda: compared(1, 32),
        "audit: requests of 500 records of 100 bytes": lambda: compared(500, 8),
        "audit: requests of 8,000 records of 100 bytes": lambda: compared(8_000, 4),
    }


def compared(records: int, in_flight: int) -> str:
    """CPU of all rounds together, for the system counts it in hundredths of a second; the rate's ratio is the median of
    neighbours', because the machine's speed changes from minute to minute.
    """
    done: dict[bool, list[int]] = {False: [], True: []}
    cpu = {False: 0.0, True: 0.0}
    with running_cluster(brokers=1) as cluster:
        broker = cluster.brokers[0]
        target = Target("barnabas", "127.0.0.1", broker.port, psutil.Process(broker.process.pid))
        retention = {"retention.bytes": "100000000", "segment.bytes": "50000000"}
        with target.topic("off", retention), target.topic("on", retention | {"barnabas.audit.enable": "true"}):
            connection = RawConnection(target.host, target.port)
            requests = {is_on: produce_frame("on" if is_on else "off", bytes(100), records) for is_on in (False, True)}
            for request in requests.values():
                pipelined(connection, request, in_flight, SECONDS)
            for number in range(2 * ROUNDS):
                # Off, on, on, off: neither is always the first after the other.
                is_on = number % 4 in (1, 2)
                before = target.cpu_seconds() or 0.0
                done[is_on].append(pipelined(connection, requests[is_on], in_flight, SECONDS))
                cpu[is_on] += (target.cpu_seconds() or 0.0) - before
            connection.close()
    micros = {is_on: 1e6 * cpu[is_on] / sum(done[is_on]) for is_on in done}
    off, on = (f"{statistics.median(done[item]) / SECONDS:,.0f} req/s, {micros[item]:.2f} µs CPU" for item in done)
    rate = statistics.median(on / off for off, on in zip(done[False], done[True], strict=True))
    return f"off {off}   on {on}   {rate:.3f} × the rate, {micros[True] / micros[False]:.3f} × the CPU"
