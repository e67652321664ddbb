"""`python -m broker audit-count --bootstrap-server HOST:PORT`: count what is appended, until SIGTERM or SIGINT."""

import argparse

from broker.audit.tally import WINDOW_MS
from broker.cli.audit import add_connection, reach_cluster
from broker.common.errors import StartupError
from broker.common.logs import configure_logs
from broker.common.stop_signals import stop_event


def main(argv: list[str]) -> int:
    """Returns 0 after a clean stop; raises StartupError when another counter of the name took over."""
    parser = argparse.ArgumentParser(prog="broker audit-count", description="Count what is appended to all topics.")
    add_connection(parser)
    parser.add_argument("--name", default="counter", help="of the counter; the next one of the name takes over")
    parser.add_argument("--window-ms", type=int, default=WINDOW_MS, metavar="MS")
    parser.add_argument("--publish-every", type=float, default=10.0, metavar="SECONDS")
    parser.add_argument("--exclude", metavar="PATTERN", help="names of topics that are not counted")
    arguments = parser.parse_args(argv)
    from confluent_kafka import KafkaException

    from broker.audit.counter import EXCLUDED, Counter

    configure_logs(process="audit-count")
    stop = stop_event()
    counter = Counter(
        *reach_cluster(arguments),
        source=arguments.name,
        exclude=EXCLUDED if arguments.exclude is None else arguments.exclude,
        window_ms=arguments.window_ms,
        publish_every_s=arguments.publish_every,
        audit_topic=arguments.audit_topic,
    )
    try:
        counter.run(stop)
    except KafkaException as error:
        raise StartupError(f"counting ends: {error.args[0].str()}") from None
    return 0
