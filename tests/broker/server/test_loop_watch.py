"""A loop that hangs ends its broker; one that was only suspended with everything else does not."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager
from pathlib import Path

from kazoo.client import KazooClient

from broker.server.loop_watch import LOOKS_MAX, LoopAnswers
from tests.barnabas_cluster import await_true
from tests.zookeeper_server import free_ports, running_zookeeper

ROOT = Path(__file__).parents[3]


def test_loop_that_answers_may_do_so_late():
    requests = []
    answers = LoopAnswers(requests.append)
    for _ in range(3):
        for _ in range(LOOKS_MAX):
            assert not answers.look()
        assert len(requests) == 1, "it is not asked again before it has answered"
        requests.pop()()


def test_loop_that_never_answers_hangs():
    answers = LoopAnswers(lambda answer: None)
    assert [answers.look() for _ in range(LOOKS_MAX + 1)] == [False] * LOOKS_MAX + [True]


def test_one_look_after_everything_stood_still_proves_nothing():
    """As after SIGSTOP: hours may have passed between two looks."""
    requests = []
    answers = LoopAnswers(requests.append)
    for _ in range(100):
        assert not answers.look()
        assert not answers.look()
        requests.pop()()


@contextmanager
def running(script: str, *arguments: str):
    """The script in a process of its own, with a watch that ends it after half a second."""
    short = "import broker.server.loop_watch as watch; watch.LOOP_STALL_MS_MIN = 500\n"
    process = subprocess.Popen(
        [sys.executable, "-c", short + textwrap.dedent(script), *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


ECHO = """
    import asyncio, sys, time
    from broker.common.logs import configure_logs
    configure_logs()
    async def main():
        with watch.watching_the_loop(1):
            print("watched", flush=True)
            while word := (await asyncio.to_thread(sys.stdin.readline)).strip():
                if word == "hang":
                    time.sleep(600)
                print(word, flush=True)
    asyncio.run(main())
"""


def test_process_whose_loop_hangs_ends_and_says_where():
    with running(ECHO) as process:
        assert process.stdout.readline() == "watched\n"
        _, output = process.communicate("hang\n", timeout=60)
    assert process.returncode == 1
    assert "the loop stands still" in output
    assert "in main" in output, "the stack says where"


def test_process_that_was_suspended_goes_on():
    with running(ECHO) as process:
        assert process.stdout.readline() == "watched\n"
        for word in ("once", "twice"):
            process.send_signal(signal.SIGSTOP)
            time.sleep(1.5)  # three times what ends it
            process.send_signal(signal.SIGCONT)
            process.stdin.write(word + "\n")
            process.stdin.flush()
            assert process.stdout.readline() == word + "\n"
        assert process.poll() is None


HANGING_BROKER = """
    import asyncio, sys, time
    from broker.cli import server
    serve = server._serve
    async def serve_and_hang(config):
        async def hang_when_told():
            await asyncio.to_thread(sys.stdin.readline)
            time.sleep(600)
        hanging = asyncio.ensure_future(hang_when_told())
        return await serve(config)
    server._serve = serve_and_hang
    sys.exit(server.main(["--config", sys.argv[1]]))
"""


def test_broker_whose_loop_hangs_is_not_in_the_cluster_for_long(tmp_path):
    """Without the watch kazoo would keep the session for ever."""
    with running_zookeeper(tmp_path / "zookeeper") as zookeeper:
        (port,) = free_ports(1)
        config = tmp_path / "server.properties"
        config.write_text(
            f"broker.id=1\nlisteners=PLAINTEXT://127.0.0.1:{port}\nlog.dirs={tmp_path / 'logs'}\n"
            f"zookeeper.connect={zookeeper.connect}\nzookeeper.session.timeout.ms=4000\n"
        )
        observer = KazooClient(zookeeper.connect)
        observer.start()
        try:
            with running(HANGING_BROKER, str(config)) as broker:
                await_true(lambda: observer.exists("/brokers/ids/1"), "the broker is registered")
                broker.stdin.write("now\n")
                broker.stdin.flush()
                assert broker.wait(60) == 1
                await_true(lambda: not observer.exists("/brokers/ids/1"), "it is in the cluster no more")
        finally:
            observer.stop()
            observer.close()
