"""What a person may set in the environment, understood; what is wrong ends the program with one sentence."""

import sys


def read_port(text: str, name: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65_535:
        sys.exit(f"{name}={text} must be a number from 1 to 65535.")
    return int(text)


def read_switch(text: str, name: str) -> bool:
    if text.lower() not in ("1", "true", "yes", "on", "0", "false", "no", "off", ""):
        sys.exit(f"{name}={text} must be 1 or 0.")
    return text.lower() in ("1", "true", "yes", "on")


def read_megabytes(text: str, name: str) -> int:
    """Return the number in bytes."""
    try:
        megabytes = float(text)
    except ValueError:
        megabytes = -1.0
    if not 0 <= megabytes < 1e6:
        sys.exit(f"{name}={text} must be a number of MB, 0 for no limit.")
    return round(megabytes * 1_000_000)


def read_days(text: str, name: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:4]) <= 365 or len(text) > 3:
        sys.exit(f"{name}={text} must be a number of days from 1 to 365.")
    return int(text)
