"""A broker process that counts its loop's bytecodes: SIGUSR1 begins, and again ends and writes the counts into a file.

The file, JSON by function, lies beside the configuration that `--config FILE` names.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from broker.cli import server
from broker.server.broker import Broker
from tests.bench.ledger.bytecodes import BytecodeCounter


def count_in(broker_directory: Path) -> Path:
    return broker_directory / "bytecodes.json"


class _Counting:
    def __init__(self, result: Path):
        self._result, self._counter, self._is_on = result, BytecodeCounter(), False

    def switch(self) -> None:
        self._is_on = not self._is_on
        if self._is_on:
            self._counter.start()
            self._write({})
        else:
            self._write(self._counter.stop())

    def _write(self, counts: dict[str, int]) -> None:
        new = self._result.with_suffix(".new")
        new.write_text(json.dumps(counts))
        os.replace(new, self._result)


def main() -> int:
    counting = _Counting(count_in(Path(sys.argv[sys.argv.index("--config") + 1]).parent))
    begin = Broker.__init__

    def init(self: Broker, *arguments: object) -> None:
        begin(self, *arguments)
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, counting.switch)

    Broker.__init__ = init
    return server.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
