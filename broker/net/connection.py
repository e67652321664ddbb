"""One client's socket: bytes to frames on the way in, responses in request order on the way out.

Written against the event loop's reader and writer callbacks rather than streams, because that decides the rate of small
requests: one wake-up reads all that is there, handles every complete frame, and sends all answers with one sendmsg.
Large pieces of files go by sendfile. With TLS (`tls/stream.py`) between it and its socket all is the same but for that.

- A small frame is copied into a bytearray of its own, so that whoever keeps a slice of it (a parked JoinGroup) keeps
  only that frame. A frame of LARGE_FRAME_BYTES or more is received straight into its own bytearray: no second copy.
  That bytearray grows with what has arrived, so announcing a large frame costs the broker nothing; all that grow so
  share one limit (`memory.py`).
- A request is answered at once (`answer`), or reserves a `Slot` that is filled later; answers leave in the order of
  the requests.
- Of one wake-up it handles what takes a slice of time (`turns.py`), at least one request unless others have used up
  the pass; the rest waits for its turn.
  So does a request that may take long by itself (`may_take_long`): between two of them everybody else has a turn.
- While too much is unanswered or unsent (common/limits.py) the connection stops reading and handles no more of what it
  has read; both go on when it drains. A kilobyte of pipelined fetches can ask for a gigabyte of answers; even if the
  socket takes them all, other connections have their turn between them.
"""

import asyncio
import contextlib
import socket
from collections import deque
from collections.abc import Callable
from itertools import chain
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from time import monotonic

from broker.common.errors import ProtocolError
from broker.common.limits import (
    IN_FLIGHT_PER_CONNECTION_MAX,
    LAST_ANSWERS_S,
    UNANSWERED_BYTES_PER_CONNECTION_MAX,
    UNCOUNTED_BYTES_MAX,
    UNSENT_BYTES_PER_CONNECTION_MAX,
)
from broker.net.file_part import FilePart
from broker.net.memory import ConnectionMemory
from broker.net.send_queue import SendQueue
from broker.net.slot import Parts, Slot, filled_parts
from broker.net.throttle_mute import Mute
from broker.net.tls.stream import TlsStream
from broker.net.turns import Turns
from broker.protocol.framing import SIZE_BYTES, BadFrameSize, split_frames
from broker.security.session import Session

LARGE_FRAME_BYTES = 64 * 1024
#: Shared by all connections of the process: there is one loop, and nothing stays in them between two wake-ups.
_SCRATCH = bytearray(4 * LARGE_FRAME_BYTES)
_SCRATCH_VIEW = memoryview(_SCRATCH)
#: Of pages that nobody has written to there is no memory yet: a broker that is sent nothing large has none of it.
_LARGE_SCRATCH = memoryview(mmap(-1, 2 * 1024 * 1024, MAP_PRIVATE | MAP_ANONYMOUS))
#: Besides its bytes, what a frame that waits costs.
_WAITING_FRAME_COST_BYTES = 100


class Connection:
    """A connected client. `on_frame(connection, frame)` is called for each request, `on_closed(connection)` once."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        sock: socket.socket,
        on_frame: Callable[["Connection", memoryview], None],
        on_closed: Callable[["Connection", str], None],
        frame_bytes_max: int,
        memory: ConnectionMemory,
        turns: Turns,
    ):
        self._loop = loop
        self._sock = sock
        self._fd = sock.fileno()
        #: May be replaced between two requests: until who speaks is proved, others answer than afterwards.
        self.on_frame = on_frame
        self._on_closed = on_closed
        self._frame_bytes_max = frame_bytes_max
        self._memory = memory
        self._turns = turns
        peer = sock.getpeername()
        self.peer_host: str = peer[0]
        self.peer = f"{peer[0]}:{peer[1]}"
        #: Who speaks, as far as the listener it came by knows; None on a connection of our own making.
        self.session: Session | None = None
        self._begin_inbound()
        self._begin_outbound()
        #: What bytes go through, if it is not the socket itself.
        self._tls: TlsStream | None = None
        self._recv_into: Callable[[memoryview], int] = sock.recv_into
        self._close_socket: Callable[[], None] = sock.close
        self.is_open = True
        #: Why it is closed as soon as all that was handled is answered; None while it goes on.
        self._end_reason: str | None = None
        loop.add_reader(self._fd, self._on_readable)

    def _begin_inbound(self) -> None:
        self._partial = b""
        self._large: bytearray | None = None
        self._large_size = 0
        self._waits_for_memory = False
        #: Received and not yet handled; empty unless the limits were reached.
        self._frames: deque[bytearray | memoryview] = deque()
        self._is_handling = False
        #: The first of them may take long and waits until others have had their turn.
        self._waits_for_turn = False
        self._has_turn = False
        #: For how many reasons no other request of this connection may begin.
        self._holds = 0
        self._muted: Mute | None = None
        self._is_reading = True
        #: It will be read again though the socket may have nothing.
        self._is_reading_on = False
        #: Grows with each whole request and each piece of a large one or of an answer; a trickle of bytes is none.
        self.progress_count = 0

    def _begin_outbound(self) -> None:
        #: Empty unless an answer is late: then it and all after it wait here.
        self._slots: deque[Slot] = deque()
        #: Of the requests whose answers are late.
        self._unanswered_bytes = 0
        self._unsent: SendQueue | TlsStream = SendQueue(self._sock)
        #: Of all answers that are ready, also of those that wait for an earlier one.
        self._unsent_bytes = 0
        self._is_counted = self._is_scheduled = self._is_writing = False

    def serve_within(self, frame_bytes_max: int, memory: ConnectionMemory) -> None:
        """Apply other bounds from the next frame on; they are tighter until the client has logged in."""
        self._frame_bytes_max = frame_bytes_max
        if memory is not self._memory:
            self._memory.hand_over(self, memory, self._loop.time())
            self._memory, self._waits_for_memory = memory, False

    def lend_socket(self, give_up: Callable[[], None]) -> socket.socket:
        """Lend the socket until `speak_through`; if the connection ends before that, `give_up` closes it."""
        self._close_socket = give_up
        return self._sock

    def speak_through(self, tls: TlsStream) -> None:
        """Send and receive through TLS from now on, whose handshake is done. Nothing was read or sent before."""
        self._tls = self._unsent = tls
        self._close_socket, self._recv_into = tls.close, tls.recv_into
        self._listen()

    def _listen(self) -> None:
        self._loop.add_reader(self._fd, self._on_readable if self._tls is None else self._on_tls_readable)
        if self._tls is not None and self._tls.has_more:
            self._read_on()

    # -- inbound

    def _on_tls_readable(self) -> None:
        """Read what TLS has buffered, of which the socket tells nothing, after other connections had their turn."""
        self._is_reading_on = False
        if self.is_open and self._is_reading:
            self._on_readable()
            if self._tls is not None and self._tls.has_more:
                self._read_on()

    def _read_on(self) -> None:
        if not self._is_reading_on:
            self._is_reading_on = True
            self._turns.ask(self._on_tls_readable)

    def _on_readable(self) -> None:
        try:
            if self._frames:  # and more comes before those have their turn
                self._pause_or_resume(is_more=True)
            elif self._large is not None:
                self._read_large(self._large)
            else:
                self._read_frames()
        except (BlockingIOError, InterruptedError):
            return
        except ProtocolError as error:
            self.close(str(error))
        except OSError as error:
            self._hang_up(error.strerror or str(error))

    def _read_large(self, frame: bytearray) -> None:
        if not self._memory.may_receive(self):
            self._waits_for_memory = True
            self._pause_or_resume()
            return
        missing = self._large_size - len(frame)
        received = self._recv_into(_LARGE_SCRATCH[:missing])
        if not received:
            self._hang_up("closed in the middle of a request")
            return
        self.progress_count += 1
        frame += _LARGE_SCRATCH[:received]
        self._memory.received(self, received, self._loop.time())
        if received == missing:
            self._frames.append(frame)
            self._large = None
            self._memory.frame_ended(self)
            self._handle_frames()

    def resume_receiving(self) -> None:
        self._waits_for_memory = False
        self._pause_or_resume()

    def has_bytes_waiting(self) -> bool:
        try:
            return bool((self._tls is not None and self._tls.has_more) or self._sock.recv(1, socket.MSG_PEEK))
        except OSError:
            return False

    def _read_frames(self) -> None:
        start = len(self._partial)
        _SCRATCH[:start] = self._partial
        limit = start + UNCOUNTED_BYTES_MAX if self._memory.is_short_of_requests else len(_SCRATCH)
        received = self._recv_into(_SCRATCH_VIEW[start:limit])
        if not received:
            self._hang_up("" if not start else "closed in the middle of a request")
            return
        end = start + received
        # The frames are copied out first: a handler may run the scratch buffer's next user only after this wake-up.
        try:
            frames, at = split_frames(_SCRATCH, end, self._frame_bytes_max)
        except BadFrameSize as error:
            self._frames.extend(error.frames_before)
            self._end(str(error))
            return
        self._keep_rest(at, end)
        self._frames.extend(frames)
        self.progress_count += len(frames)
        self._handle_frames()

    def _hang_up(self, reason: str) -> None:
        """Close after the peer is gone. Of thousands that go at once each has its turn to be closed."""
        self._loop.remove_reader(self._fd)
        self._is_reading = False
        self._turns.ask(lambda: self.close(reason))

    def _keep_rest(self, at: int, end: int) -> None:
        rest = end - at
        if rest >= SIZE_BYTES:
            size = int.from_bytes(_SCRATCH[at : at + SIZE_BYTES])
            if size >= LARGE_FRAME_BYTES or rest > UNCOUNTED_BYTES_MAX:
                self._start_large(size, at + SIZE_BYTES, end)
                return
        self._partial = bytes(_SCRATCH[at:end])

    def _start_large(self, size: int, at: int, end: int) -> None:
        self._partial = b""
        self._large = _SCRATCH[at:end]
        self._large_size = size
        self._memory.received(self, end - at, self._loop.time())

    def _handle_frames(self) -> None:
        """Handle what was received, as far as the limits allow, and send what is answered by then."""
        frames = self._frames
        end = self._turns.slice_end() if len(frames) > 1 else 0.0
        if not end and len(frames) > 1 and not self._has_turn:
            self._handle_soon()
            self._pause_or_resume()
            self._count()
            return
        self._is_handling = True
        try:
            while frames and not self._is_full():
                self.on_frame(self, memoryview(frames.popleft()))
                if frames and (self._waits_for_turn or monotonic() > end):
                    break
        finally:
            self._is_handling = False
        if self.is_open:
            self._flush()
        if self.is_open:
            if frames and (self._waits_for_turn or not self._is_full()):
                self._handle_soon()
            self._pause_or_resume()
            if self._is_counted or self._unsent_bytes > UNCOUNTED_BYTES_MAX or frames:
                self._count()
        if self._end_reason is not None:
            self._close_if_answered(self._end_reason)

    def _is_full(self) -> bool:
        unsent_bytes = self._unsent_bytes
        return (
            self._holds > 0
            or unsent_bytes >= UNSENT_BYTES_PER_CONNECTION_MAX
            or len(self._slots) >= IN_FLIGHT_PER_CONNECTION_MAX
            or self._unanswered_bytes > UNANSWERED_BYTES_PER_CONNECTION_MAX
            or (unsent_bytes > 0 and self._memory.is_short_of_answers)
        )

    def _count(self) -> None:
        """Tell what is held because the peer does not read: answers, and requests that wait for their turn."""
        late = chain.from_iterable(slot.parts for slot in self._slots if slot.parts)
        unsent = sum(len(part) for part in chain(self._unsent.parts, late) if part.__class__ is not FilePart)
        held = unsent + sum(len(frame) + _WAITING_FRAME_COST_BYTES for frame in self._frames)
        self._is_counted = held > UNCOUNTED_BYTES_MAX
        self._memory.hold_answers(self, held if self._is_counted else 0)

    def _pause_or_resume(self, *, is_more: bool = False) -> None:
        may_read = not self._waits_for_memory and self._muted is None and not self._frames and self._end_reason is None
        if may_read and not self._is_reading:
            self._is_reading = True
            self._listen()
        elif not may_read and self._is_reading and (is_more or not (self._waits_for_turn and self._frames)):
            self._is_reading = False  # not yet for a turn that comes soon: mostly nothing does before
            self._loop.remove_reader(self._fd)

    # -- outbound

    @property
    def in_flight(self) -> int:
        """Requests whose answers are late."""
        return len(self._slots)

    def may_take_long(self, frame: memoryview) -> bool:
        """Return whether a request that may take long is handled now.

        If not, it comes again when others have had their turn, and whatever comes after it on this connection waits.
        """
        if self._has_turn:
            self._has_turn = False
            return True
        self.ask_again(frame)
        return False

    def ask_again(self, frame: memoryview) -> None:
        """Handle the frame again later, before all others of this connection."""
        self._frames.appendleft(frame)
        self._waits_for_turn = True

    def hold_until(self, done: asyncio.Future[None]) -> None:
        """Begin no other request before: what the one being handled does later must not be overtaken."""
        self._holds += 1
        done.add_done_callback(lambda _: self._release())

    def _release(self) -> None:
        self._holds -= 1
        if self._frames:
            self._handle_soon()

    def mute(self, ms: int) -> None:
        """Read and begin nothing for `ms`; responses are still sent. One muted for too long is closed as idle."""
        if not self.is_open:
            return
        if self._muted is None:
            self._muted = Mute(self._loop, self._fd, self._unmute, self.close)
            self._holds += 1
        self._muted.last(ms)
        if not self._is_handling:
            self._pause_or_resume()

    def _unmute(self) -> None:
        """Unmute the connection, which counts as active: its client may have waited as it was told."""
        self._muted = None
        self.progress_count += 1
        self._pause_or_resume()
        self._release()

    def answer(self, parts: Parts) -> int:
        """Queue the response to the request that is being handled; return its bytes."""
        if self._slots:
            return self.fill(self.reserve(), parts)
        self._unsent.parts += parts
        size = len(parts[0]) if len(parts) == 1 else sum(map(len, parts))
        self._unsent_bytes += size
        return size

    def reserve(self, request_bytes: int = 0) -> Slot:
        """Keep the place of the response to the request that is being handled, which takes so many bytes meanwhile.

        The connection may be closed for it.
        """
        slot = Slot(request_bytes)
        self._slots.append(slot)
        self._unanswered_bytes += request_bytes
        if request_bytes > UNCOUNTED_BYTES_MAX:
            self._memory.park(self, self._unanswered_bytes)
        return slot

    def fill(self, slot: Slot, parts: Parts) -> int:
        """Give a slot its bytes (none for acks=0) and return how many; they leave after those of all earlier slots."""
        slot.parts = parts
        size = sum(map(len, parts))
        if not self.is_open:
            return size
        self._unsent_bytes += size
        self._unanswered_bytes -= slot.request_bytes
        if slot.request_bytes > UNCOUNTED_BYTES_MAX:
            self._memory.park(self, self._unanswered_bytes)
        if not self._is_handling and (self._slots[0] is slot or self._frames):
            self._handle_soon()
        return size

    def _handle_soon(self) -> None:
        """Handle the next frame after other connections had their turn."""
        if not self._is_scheduled:
            self._is_scheduled = True
            self._turns.ask(self._handle_scheduled)

    def _handle_scheduled(self) -> None:
        self._is_scheduled = self._waits_for_turn = False
        if self.is_open:
            self._has_turn = True
            self._handle_frames()
            self._has_turn = False

    def _flush(self) -> None:
        slots = self._slots
        while slots and (parts := slots[0].parts) is not None:
            slots.popleft()
            self._unsent.parts += parts
        if self._unsent.parts and not self._is_writing:
            self._send()

    def _send(self) -> None:
        try:
            self._unsent_bytes -= self._unsent.send()
        except OSError as error:
            self.close(error.strerror or str(error))
            return
        if self._unsent.parts and not self._is_writing:
            self._is_writing = True
            self._loop.add_writer(self._fd, self._on_writable)

    def _on_writable(self) -> None:
        self.progress_count += 1
        self._send()
        if self.is_open and not self._unsent.parts:
            self._is_writing = False
            self._loop.remove_writer(self._fd)
        if self.is_open:
            self._handle_soon()

    # -- end

    def close_when_answered(self, reason: str) -> None:
        """Read and handle nothing more, and close when the requests before are answered, or LAST_ANSWERS_S later."""
        self._frames.clear()
        self._end(reason)

    def _end(self, reason: str) -> None:
        self._end_reason = reason
        self._loop.call_later(LAST_ANSWERS_S, self.close, reason)
        if not self._is_handling:
            self._handle_frames()

    def _close_if_answered(self, reason: str) -> None:
        if self.is_open and not (self._frames or self._slots or self._unsent.parts):
            self.close(reason)

    def close(self, reason: str = "") -> None:
        """End the connection; answers whose turn it is are offered to the socket once. Idempotent."""
        if not self.is_open:
            return
        self.is_open = False
        if self._muted is not None:
            self._muted.cancel()
        if not self._is_writing and not reason.startswith("Connection reset"):
            with contextlib.suppress(OSError):
                self._unsent.offer(filled_parts(self._slots))
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        self._close_socket()
        self._let_go()
        self._frames.clear()
        self._unsent.parts.clear()
        self._slots.clear()
        self._large = None
        self._memory.frame_ended(self)
        self._memory.hold_answers(self, 0)
        self._memory.park(self, 0)
        self._on_closed(self, reason)

    def _let_go(self) -> None:
        """Break the reference cycles, so that a closed connection is freed at once."""
        self.on_frame = _unheard
        self._close_socket = self._sock.close
        self._muted = None


def _unheard(_connection: Connection, _frame: memoryview) -> None:
    """Ignore a frame that comes after the end."""
