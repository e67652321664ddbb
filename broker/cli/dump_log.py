"""`python -m broker dump-log FILE [--records]`: print a segment of a log, of a broker that runs or not."""

import argparse
import os
import sys
from pathlib import Path

from broker.common.errors import StartupError
from broker.log.dump import SegmentDump


def main(argv: list[str]) -> int:
    """0 if the segment is whole, 1 if it is damaged; raises StartupError if it cannot be read."""
    arguments = _parser().parse_args(argv)
    dump = SegmentDump(arguments.file, with_records=arguments.records)
    try:
        for line in dump.lines():
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise StartupError(f"{arguments.file} cannot be read: {error.strerror}.") from None
    return 0 if dump.damage is None else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m broker dump-log", description="Print a segment of a log.")
    parser.add_argument("file", type=Path, metavar="FILE", help="a .log file of a partition's directory")
    parser.add_argument("--records", action="store_true", help="print the records of each batch as well")
    return parser
