"""`python -m broker server --config FILE`: run one broker in this process until SIGTERM or SIGINT."""

import argparse
import asyncio
import gc
import signal
from pathlib import Path

import uvloop

from broker.cli.servers.server_properties import read_server_properties
from broker.common.logs import configure_logs, logger
from broker.common.process_end import log_stop, stop_signals
from broker.config.broker import BrokerConfig
from broker.server.broker import Broker
from broker.server.loop_watch import watching_the_loop

_log = logger(__name__)
#: What is alive after start lives for ever; collecting it again and again costs about 4 % of the request path. So many
#: objects are new when they are looked at; so often that happens before the middle-aged are, and that before all are. A
#: look at 100,000 takes 40 ms where others have used the caches: of the middle-aged there are half of that at most.
_GC_THRESHOLDS = (10_000, 4, 100)


def main(argv: list[str]) -> int:
    """Return 0 after a clean stop, 1 when no log directory is left; raises StartupError."""
    arguments = _parser().parse_args(argv)
    config = read_server_properties(arguments.config, dict(arguments.override))
    configure_logs(broker_id=config.broker_id)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(config))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m broker server", description="Run a broker in this process.")
    parser.add_argument(
        "--config", type=Path, required=True, metavar="FILE", help="server.properties with Kafka's names"
    )
    parser.add_argument(
        "--override", type=_pair, action="append", default=[], metavar="KEY=VALUE", help="instead of what FILE says"
    )
    return parser


def _pair(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not separator or not key.strip():
        raise argparse.ArgumentTypeError(f"write it as KEY=VALUE, not {text!r}")
    return key.strip(), value.strip()


async def _serve(config: BrokerConfig) -> int:
    stopping = asyncio.Event()
    for number in stop_signals():
        asyncio.get_running_loop().add_signal_handler(number, _stop, stopping, number)
    with watching_the_loop(config.zookeeper_session_timeout_ms):
        return await _serve_until(stopping, Broker(config))


def _stop(stopping: asyncio.Event, number: int) -> None:
    log_stop(number)
    stopping.set()


async def _serve_until(stopping: asyncio.Event, broker: Broker) -> int:
    try:
        starting = asyncio.ensure_future(broker.start())
        stop_asked_for = asyncio.ensure_future(stopping.wait())
        await asyncio.wait({starting, stop_asked_for}, return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
            return 0
        starting.result()
        # What scripts wait for that start Kafka.
        _log.info(f"[KafkaServer id={broker.config.broker_id}] started (kafka.server.KafkaServer)")
        gc.collect()
        gc.freeze()
        gc.set_threshold(*_GC_THRESHOLDS)
        failed = asyncio.ensure_future(broker.failed.wait())
        await asyncio.wait({stop_asked_for, failed}, return_when=asyncio.FIRST_COMPLETED)
        return int(failed.done())
    finally:
        await broker.stop()
        _ignore_signals()


def _ignore_signals() -> None:
    """Ignore further signals: one more would end the process while it stops, and show in its status."""
    for number in stop_signals():
        asyncio.get_running_loop().remove_signal_handler(number)
        signal.signal(number, signal.SIG_IGN)
