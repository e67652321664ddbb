"""A pass on its own thread while the owner of the log goes on appending and reading."""

import queue
import threading
import time
from concurrent.futures import Future

from broker.log.compaction.settings import CleanerSettings
from broker.records.batch import iterate_headers
from broker.records.record import decode_records


class Owner:
    """What an event loop is to the cleaner: steps are handed over, and done when the owner comes to it."""

    def __init__(self):
        self.steps: queue.SimpleQueue = queue.SimpleQueue()
        self.steps_done = 0

    def run(self, step) -> None:
        """On the cleaner's thread."""
        done: Future = Future()
        self.steps.put((step, done))
        done.result(timeout=30)

    def take_a_turn(self) -> None:
        while not self.steps.empty():
            step, done = self.steps.get()
            try:
                step()
            except BaseException as error:
                done.set_exception(error)
            else:
                done.set_result(None)
            self.steps_done += 1


def test_owner_appends_and_reads_while_passes_run(compacted):
    owner, finished, results = Owner(), threading.Event(), []
    settings = CleanerSettings(compacted.clock, on_owner=owner.run, sleep=time.sleep)
    cleaner = type(compacted.cleaner)(settings)

    def clean(target) -> None:
        try:
            results.append(cleaner.clean_filthiest([target]))
        finally:
            finished.set()

    for _ in range(4):
        for number in range(60):
            compacted.append((b"k%d" % (number % 7), b"%d" % number + b"." * 90))
        finished.clear()
        thread = threading.Thread(target=clean, args=[compacted.target()])
        thread.start()
        position = 0
        while not finished.is_set():
            owner.take_a_turn()
            compacted.append((b"k%d" % (len(compacted.written) % 7), b"meanwhile"))
            position = read_on(compacted, position)
            time.sleep(0.001)
        thread.join()
    assert all(results)
    assert cleaner.uncleanable == {}
    assert owner.steps_done > 10
    last = dict(compacted.written)
    assert compacted.values() == last


def read_on(compacted, position: int) -> int:
    """Read one slice there, as a consumer would; where it goes on, from the start again at the end."""
    data = compacted.log.read(position, 500, compacted.log.log_end_offset).read()
    if not data:
        return 0
    for at, header in iterate_headers(data):
        for record in decode_records(data[at:]):
            assert compacted.written[record.offset] == (record.key, record.value)
        position = header.next_offset
    return position
