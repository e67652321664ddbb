"""Where everything is kept is made by who writes there, not by who only asks: `manage.py help` leaves no trace."""

import sys

from django.conf import settings


def make_data_directories() -> None:
    """Create the directories of BARNABAS_DATA, for the owner only.

    Ends the program with one sentence if they cannot be used.
    """
    for directory in (settings.DATA_DIR, settings.LOG_DIR, settings.RUN_DIR, settings.SECRETS_DIR):
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            sys.exit(f"BARNABAS_DATA={settings.DATA_DIR} cannot be used: {error.strerror} ({directory}).")
