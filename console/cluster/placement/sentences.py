"""Numbers and brokers in the sentences of a plan. Pure."""

from collections.abc import Iterable

from console.kit.common.figures import grouped


def ids(broker_ids: Iterable[int]) -> str:
    return ", ".join(map(str, broker_ids))


def count_of(number: int, noun: str) -> str:
    return f"{grouped(number)} {noun}{'' if number == 1 else 's'}"
