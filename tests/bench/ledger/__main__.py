"""`python -m tests.bench.ledger`: count what small requests cost, and compare with the ledger.

With `--record` the ledger is written anew; a commit that raises a cost says in its message why. With `--where ENTRY`
the functions are listed in which an entry's bytecodes are executed, the most expensive first.
"""

import argparse
import sys
from collections import Counter

from tests.bench.ledger.book import LEDGER, python_version, read_ledger, write_ledger
from tests.bench.ledger.measure import REQUESTS, measure


def main() -> int:
    """Return 1 if a cost is not the ledger's, unless it was recorded."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.ledger", description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help=f"write {LEDGER.name} anew")
    parser.add_argument("--where", metavar="ENTRY", help="list the functions of one entry, such as produce")
    arguments = parser.parse_args()
    known, counts = read_ledger().get(python_version(), {}), measure()
    costs = {name: by_function.total() // REQUESTS for name, by_function in counts.items()}
    for name, cost in costs.items():
        before = known.get(name)
        change = "new" if before is None else f"{(cost / before - 1) * 100:+.1f} %"
        print(f"{name:<20}{cost:>10,} bytecodes   {change}")
    for function, count in counts.get(arguments.where, Counter()).most_common():
        print(f"{count / REQUESTS:>10,.0f}  {function}")
    if arguments.record:
        write_ledger(costs)
        return 0
    return int(costs != known)


if __name__ == "__main__":
    sys.exit(main())
