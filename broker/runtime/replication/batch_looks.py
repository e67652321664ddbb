"""Looking at the records of what a client sends to compacted partitions, while others have their turn.

A few hundred bytes of zstd can stand for megabytes, and a request can hold thousands of them: together they have one
budget. Who is beyond it may send the batch again, in a request where it comes first.
"""

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import PRODUCED_DECOMPRESSED_BYTES_MAX
from broker.log.validation import KeysLook
from broker.net.turns import Turns
from broker.protocol.primitives import Buffer
from broker.runtime.in_turns import in_turns


class BatchValidations:
    """Validations of one request."""

    def __init__(self, turns: Turns):
        self._turns = turns
        self._bytes_left = PRODUCED_DECOMPRESSED_BYTES_MAX

    async def look(self, batch: Buffer) -> None:
        """Check the records of a batch that passed `check_produced_batch`.

        Raises ApiError as `KeysLook`, and NOT_ENOUGH_REPLICAS, which producers know as a reason to try again, if the
        batches before have used up the budget.
        """
        is_first = self._bytes_left == PRODUCED_DECOMPRESSED_BYTES_MAX
        if self._bytes_left <= 0:
            raise _beyond()
        await self._turns.mine()
        look = KeysLook(batch)
        try:
            await in_turns(look.steps(self._bytes_left), lambda _: None, self._turns)
        except ApiError as error:
            if look.unpacked_bytes:
                raise
            self._bytes_left = 0  # as much was tried
            raise error if is_first else _beyond() from None
        finally:
            self._bytes_left -= look.unpacked_bytes


def _beyond() -> ApiError:
    megabytes = PRODUCED_DECOMPRESSED_BYTES_MAX // 2**20
    reason = f"the batches of the request unpack to more than {megabytes} MB; send fewer at once"
    return ApiError(ErrorCode.NOT_ENOUGH_REPLICAS, reason)
