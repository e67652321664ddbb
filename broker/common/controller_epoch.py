"""The order of controller epochs, which begin anew where no number is left.

No cluster elects two thousand million controllers: who comes near the end has a `/controller_epoch` that was written by
hand. Were the last epoch given out twice, brokers would not know the controller that was replaced from the new one.
"""

from collections.abc import Iterable

#: The last epoch that is given out. It is an int32 on the wire, and tools add one to what they read.
CONTROLLER_EPOCH_MAX = 2**31 - 2
#: An epoch that is lower by more than this is a later one: the count began anew.
_BEGAN_ANEW = 2**30


def is_later(epoch: int, other: int) -> bool:
    """Return whether `epoch` was given out after `other`."""
    return epoch > other or other - epoch > _BEGAN_ANEW


def epoch_above(epoch: int, used: Iterable[int]) -> int:
    """Return `epoch`, or one that is later than those in `used` if it is not later itself.

    Nothing follows the last one: where that is used, the count begins anew above the low ones that are used.
    """
    numbers = set(used)
    not_before = [number for number in numbers if number < CONTROLLER_EPOCH_MAX and not is_later(epoch, number)]
    wanted = max(epoch, 1 + max(not_before, default=-1))
    if wanted == CONTROLLER_EPOCH_MAX and any(number >= CONTROLLER_EPOCH_MAX for number in numbers):
        return 1 + max((number for number in numbers if 0 <= number < _BEGAN_ANEW), default=0)
    return wanted
