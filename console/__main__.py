"""`python -m console COMMAND …`: every command of the console, `up`, `collect`, `migrate` …; manage.py is the same."""

import os
import sys

from broker.common.installation import import_failure
from console.kit.common.up_options import environment_of

#: EX_CONFIG of sysexits.h, as of a broker that cannot start.
EXIT_STATUS = 78


def main() -> int:
    os.umask(0o077)  # sessions, password hashes and records lie in what is made from here on
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    if sys.argv[1:2] == ["up"]:
        os.environ |= environment_of(sys.argv[2:])  # before Django reads its settings
    try:
        from django.core.management import execute_from_command_line

        execute_from_command_line(sys.argv)
    except ImportError as error:
        complaint = import_failure(error)
        if complaint is None:
            raise
        print(complaint, file=sys.stderr)
        return EXIT_STATUS
    return 0


if __name__ == "__main__":
    sys.exit(main())
