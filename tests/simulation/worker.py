"""`python -m tests.simulation.worker [DEFECT]`: runs the seeds it reads, a line each; writes a line of JSON of each.

Many in one process, because to start Python is a fifth of a run. What they leave is collected between two of them.
"""

import contextlib
import gc
import json
import sys
import warnings

from tests.simulation.defects import put_back
from tests.simulation.run import run_seed
from tests.simulation.tally import tally

_VIOLATIONS_MAX = 5
#: Objects more than a run makes as a rule; one that does not come to rest must not take all memory.
_GARBAGE_MAX = 1_000_000


def main() -> None:
    warnings.simplefilter("ignore", RuntimeWarning)  # of coroutines that a kill left where they were
    gc.set_threshold(_GARBAGE_MAX)
    for defect in sys.argv[1:]:
        put_back(defect)
    for number, line in enumerate(sys.stdin):
        print(json.dumps(_outcome(int(line))), flush=True)
        gc.collect()
        if number == 0:
            gc.freeze()  # what was imported and compiled stays


def _outcome(seed: int) -> dict:
    world = run_seed(seed)
    return {"seed": seed, "violations": world.history.violations[:_VIOLATIONS_MAX], "tally": tally(world)}


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
