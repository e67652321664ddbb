"""One attack, until it is killed."""

import resource
import sys

from tests.bench.attacks import ATTACKS, Aim


def main() -> None:
    name, host, port, topic, zookeeper, outside = sys.argv[1:]
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    steps = ATTACKS[name](Aim(host, int(port), topic, zookeeper, outside))
    next(steps)
    print("ready", flush=True)
    for _ in steps:
        pass


if __name__ == "__main__":
    main()
