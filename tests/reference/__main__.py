"""`python -m tests.reference [subject …] [--seed N] [--cases N] [--record]`: compare, and print the table of counts."""

import argparse
import sys

from tests.fetched import NotFetchedError
from tests.reference.comparison import compare, table, text_of
from tests.reference.recording import record
from tests.reference.running import References
from tests.reference.subjects import SUBJECTS, named


def main() -> int:
    """0 if every difference is listed and occurs, or if the reference cannot be had."""
    parser = argparse.ArgumentParser(prog="python -m tests.reference", description=__doc__)
    parser.add_argument("subjects", nargs="*", default=list(SUBJECTS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, help="of each subject, in place of its own number")
    parser.add_argument("--record", action="store_true", help="write recorded/ anew, which the gate replays")
    options = parser.parse_args()
    subjects = [subject for name in options.subjects for subject in named(name)]
    try:
        references = References()
    except NotFetchedError as error:
        print(f"skipped: {error}")
        return 0
    try:
        if options.record:
            record(subjects, references)
            return 0
        results = [compare(subject, references.of(subject), options.seed, options.cases) for subject in subjects]
    finally:
        references.close()
    for result in results:
        for case, ours, reference in result.unlisted:
            print(
                f"{result.subject}: {text_of(case)}\n    ours      {text_of(ours)}\n    reference {text_of(reference)}"
            )
        for gone in result.gone:
            print(f"{result.subject}: the listed difference {gone} no longer occurs: take it off the list")
    print(table(results))
    return int(any(result.unlisted_count or result.gone for result in results))


if __name__ == "__main__":
    sys.exit(main())
