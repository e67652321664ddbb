"""A worker killed while files are put into a directory: each line is in the topic once, and each file is marked."""

import itertools
import os
import signal
import threading

import pytest

from tests.barnabas_cluster import await_true
from tests.broker.connect.herder.test_distributed import Workers, everything, properties, put

_LINES = 200


class Putting:
    """Files that are written beside the directory and renamed into it, until enough."""

    def __init__(self, inbox):
        self.inbox = inbox
        self.lines: list[bytes] = []
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._put)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_error):
        self._enough.set()
        self._thread.join()

    def _put(self):
        for number in itertools.count():
            lines = [b"%d %d" % (number, n) for n in range(_LINES)]
            hidden = self.inbox / f".{number}"
            hidden.write_bytes(b"\n".join(lines))
            self.lines += lines
            hidden.rename(self.inbox / f"{number}.txt")
            if self._enough.wait(0.05):
                return


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_killed_worker_loses_and_doubles_no_line_of_a_directory(cluster, tmp_path):
    topic, inbox = "directory-kills", tmp_path / "inbox"
    inbox.mkdir()
    once = {"exactly.once.source.support": "enabled", "offset.flush.interval.ms": "200"}
    workers = Workers(cluster, tmp_path, topic, properties(cluster, topic) | once)
    text = "org.apache.kafka.connect.storage.StringConverter"
    config = {
        "connector.class": "DirectorySource", "directory": str(inbox), "topic": topic, "file.rest.ms": "0",
        "batch.size": "30", "value.converter": text, "exactly.once.support": "required",
        "topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1",
    }  # fmt: skip

    def done() -> int:
        return len(list(inbox.glob("*.done")))

    try:
        worker = workers.start()
        put(worker, "directory", config)
        with Putting(inbox) as putting:
            for _ in range(4):
                before = done()
                await_true(lambda: done() > before + 3, "files are marked", 120)  # noqa: B023 (called at once)
                os.kill(worker.process.pid, signal.SIGKILL)
                worker.process.wait()
                worker = workers.start()
        files = len(putting.lines) // _LINES
        await_true(lambda: done() == files, "all files are marked", 180)
        assert sorted(everything(cluster, topic)) == sorted(putting.lines)
        assert len(list(inbox.iterdir())) == files
    finally:
        for item in workers.all:
            item.stop()
