"""What a topic may be called. Pure."""

import re

from console.kit.gateway.interface import TOPIC_NAME_LENGTH_MAX

LEGAL = r"^(?!\.{1,2}$)[a-zA-Z0-9._-]+$"
_LEGAL = re.compile(LEGAL)


def is_legal(name: str) -> bool:
    return len(name) <= TOPIC_NAME_LENGTH_MAX and "\n" not in name and _LEGAL.match(name) is not None
