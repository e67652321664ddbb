"""What every example is told on its command line."""

import argparse
from collections.abc import Sequence


def parse_options(meaning: str | None, words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse bootstrap_server, topic, group and count. `words` are the command line's own unless they are given."""
    parser = argparse.ArgumentParser(description=meaning, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bootstrap-server", default="localhost:9092", metavar="HOST:PORT")
    parser.add_argument("--topic", default="examples")
    parser.add_argument("--group", default="examples", help="of consumers")
    parser.add_argument("--count", type=int, default=10, help="records to send, or to read before it ends")
    return parser.parse_args(words)
