"""Whether a group loses a member that kept its promises: its session ends only after its time, in the life of one
coordinator, however busy that is with others.
"""

from collections.abc import Callable

from tests.simulation.history import History

#: What a member allows for the network when it says that it has kept its promises.
_SLACK_MS = 1_000

#: (broker id, leader epoch, life) of a coordinator as ZooKeeper and the machines have it.
Term = tuple[int, int, int]
#: Whether a broker was up and reachable all the time since then.
IsUndisturbed = Callable[[int, int], bool]


class Promises:
    """Of one member."""

    def __init__(self, member: str, history: History, session_timeout_ms: int, is_undisturbed: IsUndisturbed):
        self._member = member
        self._history = history
        self._session_timeout_ms = session_timeout_ms
        self._is_undisturbed = is_undisturbed
        #: When the coordinator of that term knew that the member is alive; None if it is none.
        self._alive_us: int | None = None
        self._alive_in: Term | None = None

    def heard(self, term: Term | None, broker_id: int, asked_us: int) -> None:
        """What that broker was asked then, in that term, was answered as a member is.

        A broker that was deposed in its sleep answers as before when it wakes; its successor hears nothing of that.
        """
        if term is not None and term[0] == broker_id:
            self._alive_us, self._alive_in = asked_us, term

    def waited(self, term: Term | None, broker_id: int, now_us: int) -> None:
        """What was asked long ago was answered now: who waits for a coordinator is not silent."""
        self.heard(term, broker_id, now_us - _SLACK_MS * 1000)

    def are_kept(self, term: Term | None, now_us: int) -> bool:
        """Whether the coordinator of `term` knows the member to be alive, and nothing can have made it forget."""
        alive_us = self._alive_us
        if alive_us is None or term is None or term != self._alive_in:
            return False
        is_in_time = now_us - alive_us < (self._session_timeout_ms - _SLACK_MS) * 1000
        return is_in_time and self._is_undisturbed(term[0], alive_us)

    def forget(self) -> None:
        """It is no member, and knows that."""
        self._alive_us = self._alive_in = None

    def expelled(self, term: Term | None, broker_id: int, now_us: int) -> None:
        """That broker, asked in that term, says it does not know the member."""
        alive_us, alive_in = self._alive_us, self._alive_in
        self.forget()
        if alive_us is None or term is None or term != alive_in or term[0] != broker_id:
            return
        silent_ms = (now_us - alive_us) // 1000
        if silent_ms < self._session_timeout_ms - _SLACK_MS and self._is_undisturbed(broker_id, alive_us):
            self._history.violate(
                f"{self._member} was expelled by broker-{broker_id} after {silent_ms} ms of silence; "
                f"its session is {self._session_timeout_ms} ms"
            )
