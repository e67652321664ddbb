"""`python -m broker dump-log FILE [--records]`: `kafka-dump-log`, whose status also says whether all was whole."""

from dataclasses import replace

from broker.cli.frame.declaration import Arguments
from broker.cli.frame.running import run
from broker.cli.kafka_dump_log import COMMAND, dump


def main(argv: list[str]) -> int:
    """Return 0 if everything is whole, 1 if something is damaged or cannot be read."""
    return run(replace(COMMAND, name="dump-log", run=_run), argv)


def _run(arguments: Arguments) -> int:
    return 0 if dump(arguments) else 1
