"""Where a process of a test runs: at an address of its own, perhaps in surroundings of its own."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """`enter` comes before a command and has it run there, in the same process: `env …`, `ip netns exec …`."""

    address: str = "127.0.0.1"
    enter: tuple[str, ...] = ()


HERE = Place()
