"""The database brought up to date by a fork: the checks before it import every page, and who watches over services
keeps none of that for as long as it stays.
"""

import os
import traceback
from typing import NoReturn

from django.core.management import call_command
from django.db import DatabaseError


def migrate() -> None:
    """Raises DatabaseError."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _migrate_and_exit(writing)
    os.close(writing)
    with open(reading, "rb") as pipe:
        output = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if status:
        raise DatabaseError(output or f"migrating ended with status {os.waitstatus_to_exitcode(status)}")


def _migrate_and_exit(writing: int) -> NoReturn:
    status = 1
    try:
        call_command("migrate", interactive=False, verbosity=0)
        status = 0
    except DatabaseError as error:
        os.write(writing, str(error).encode())
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)
