"""`python -m broker server --config FILE`: run one broker in this process until SIGTERM or SIGINT."""

import argparse
import asyncio
import gc
import signal
from pathlib import Path

import uvloop

from broker.common.errors import StartupError
from broker.common.logs import configure_logs
from broker.config.broker import BrokerConfig, read_broker_config
from broker.server.broker import Broker
from broker.server.loop_watch import watching_the_loop

#: What is alive after start lives for ever; collecting it again and again costs about 4 % of the request path. So many
#: objects are new when they are looked at; so often that happens before the middle-aged are, and that before all are. A
#: look at a million takes 60 ms: of the middle-aged there are 200,000, and all are looked at as seldom as by default.
_GC_THRESHOLDS = (50_000, 3, 30)
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def main(argv: list[str]) -> int:
    """0 after a clean stop, 1 when no log directory is left; raises StartupError."""
    config = _read_config(_parser().parse_args(argv).config)
    configure_logs(broker_id=config.broker_id)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(config))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m broker server", description="Run a broker in this process.")
    parser.add_argument(
        "--config", type=Path, required=True, metavar="FILE", help="server.properties with Kafka's names"
    )
    return parser


def _read_config(path: Path) -> BrokerConfig:
    try:
        return read_broker_config(path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise StartupError(f"cannot read {path}: {error}") from None


async def _serve(config: BrokerConfig) -> int:
    stopping = asyncio.Event()
    for number in _STOP_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    with watching_the_loop(config.zookeeper_session_timeout_ms):
        return await _serve_until(stopping, Broker(config))


async def _serve_until(stopping: asyncio.Event, broker: Broker) -> int:
    try:
        starting = asyncio.ensure_future(broker.start())
        told_to_stop = asyncio.ensure_future(stopping.wait())
        await asyncio.wait({starting, told_to_stop}, return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
            return 0
        starting.result()
        gc.collect()
        gc.freeze()
        gc.set_threshold(*_GC_THRESHOLDS)
        failed = asyncio.ensure_future(broker.failed.wait())
        await asyncio.wait({told_to_stop, failed}, return_when=asyncio.FIRST_COMPLETED)
        return int(failed.done())
    finally:
        await broker.stop()
        _ignore_signals()


def _ignore_signals() -> None:
    """What is left is to end; told once more to stop, the process would die of it and say so in its status."""
    for number in _STOP_SIGNALS:
        asyncio.get_running_loop().remove_signal_handler(number)
        signal.signal(number, signal.SIG_IGN)
