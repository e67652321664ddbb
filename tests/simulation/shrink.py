"""Which of a seed's faults it takes to break it: `--shrink`. Leaving one out changes what follows, so this is a search
for a run that fails with less, not a proof that the rest is innocent.
"""

from collections.abc import Callable, Sequence

#: Whether the run with these faults fails.
Fails = Callable[[Sequence[int]], bool]


def shrink(faults: Sequence[int], fails: Fails) -> list[int]:
    """The numbers of faults none of which can be left out. `fails(faults)` is true at the start."""
    kept = list(faults)
    for part in (max(1, len(kept) // 4), 1):
        at = 0
        while at < len(kept):
            without = kept[:at] + kept[at + part :]
            if fails(without):
                kept = without
            else:
                at += part
    return kept
