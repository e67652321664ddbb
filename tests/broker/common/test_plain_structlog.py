"""Logs need no colours."""

import subprocess
import sys

PROGRAM = """
import sys
import broker.common.logs
assert not {"rich", "pygments"} & sys.modules.keys(), "imported for logs that have no colours"
import rich
"""


def test_rich_is_not_imported_and_can_be_by_who_wants_it():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
