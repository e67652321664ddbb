"""A signal ends the wait of the main thread, whichever thread it finds."""

import signal
import subprocess
import sys

import pytest

_PROGRAM = """
import signal, sys, threading
from broker.common.stop_signals import stop_event

stop = stop_event()

def besides():
    print("waiting", flush=True)
    sys.stdin.readline()
    signal.pthread_kill(threading.get_ident(), int(sys.argv[1]))
    threading.Event().wait()

threading.Thread(target=besides, daemon=True).start()
stop.wait()
print("stopped")
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_wakes_another_thread_is_heard_while_the_main_thread_waits(number):
    program = [sys.executable, "-c", _PROGRAM, str(int(number))]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "waiting\n"
            out, _ = process.communicate("go\n", timeout=20)
        finally:
            process.kill()
    assert (process.returncode, out) == (0, "stopped\n")
