"""One attack, until it is killed."""

import resource
import sys

from tests.bench.attacks import AT_DOORS, ATTACKS, Aim
from tests.bench.attacks.intruders import Broken


def main() -> None:
    name, host, port, *rest = sys.argv[1:]
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    steps = {**ATTACKS, **AT_DOORS}[name](Aim(host, int(port), *rest))
    next(steps)
    print("ready", flush=True)
    try:
        for _ in steps:
            pass
    except Broken as broken:
        sys.exit(print(broken, flush=True) or 1)


if __name__ == "__main__":
    main()
