"""`python -m tests.fetched`: fetch what is not in the cache yet; says of each whether it is there."""

import sys

from tests.fetched import FETCHED, NotFetchedError, fetch_into_cache


def main() -> int:
    """1 if something could not be fetched: tests that need it are skipped."""
    missing = 0
    for name in FETCHED:
        try:
            print(f"{name} is in {fetch_into_cache(name)}", flush=True)
        except NotFetchedError as error:
            missing += 1
            print(error, file=sys.stderr, flush=True)
    return int(missing > 0)


if __name__ == "__main__":
    sys.exit(main())
