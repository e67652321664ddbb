"""A service for test_fork_server.py: tells what it sees of itself, and stays until it is ended."""

import json
import os
import sys
import time


def main() -> int:
    process = {"argv": sys.argv[1:], "token": os.environ["BARNABAS_RUN_TOKEN"], "session": os.getsid(0) == os.getpid()}
    print(json.dumps(process | {"django": "django" in sys.modules}), flush=True)
    if "fail" in sys.argv:
        return 7
    time.sleep(60)
    return 0
