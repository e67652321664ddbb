"""`python -m console COMMAND …`: every command of the console, `up`, `collect`, `migrate` …; manage.py is the same."""

import os
import sys


def main() -> int:
    os.umask(0o077)  # sessions, password hashes and records lie in what is made from here on
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
