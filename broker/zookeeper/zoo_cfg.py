"""What stands in zoo.cfg besides the members: which keys a person may set, and their defaults.

The customary values are those that ZooKeeper's documentation and Kafka's print: a follower may take initLimit ticks to
connect and sync with the leader, and is given up after syncLimit ticks of silence (10 s). An ensemble is slow to notice
with long ticks, and gives up on busy machines with short ones.
"""

import re
from collections.abc import Mapping

from broker.config.definition import ConfigError, Key, parse_int

TICK_TIME, INIT_LIMIT, SYNC_LIMIT = "tickTime", "initLimit", "syncLimit"
KEYS = (
    Key(TICK_TIME, parse_int, 2_000, "Milliseconds of a tick, the unit of the next two.", at_least=100, at_most=60_000),
    Key(INIT_LIMIT, parse_int, 20, "Ticks a follower may take to connect and sync.", at_least=1, at_most=1_000),
    Key(SYNC_LIMIT, parse_int, 5, "Ticks of silence after which a follower is given up.", at_least=1, at_most=1_000),
    # Without these a session would last from 2 to 20 ticks: a broker's 1 s, or its minute, would be cut to that.
    Key("minSessionTimeout", parse_int, 1_000, "Shortest session, in ms.", at_least=100, at_most=3_600_000),
    Key("maxSessionTimeout", parse_int, 60_000, "Longest session, in ms.", at_least=1_000, at_most=3_600_000),
    Key("maxClientCnxns", parse_int, 60, "Connections of one address.", at_least=1, at_most=10_000),
    Key("autopurge.snapRetainCount", parse_int, 3, "Snapshots that are kept.", at_least=3, at_most=1_000),
    Key("autopurge.purgeInterval", parse_int, 1, "Hours between two purges; 0: none.", at_least=0, at_most=8_760),
)
_FIXED = """\
dataDir=./data
standaloneEnabled=false
reconfigEnabled=true
preAllocSize=4096
admin.enableServer=false
4lw.commands.whitelist=ruok,srvr,mntr,stat,cons,isro,wchs
"""


def read_settings(texts: Mapping[str, str]) -> dict[str, int]:
    """Parse the settings. ConfigError names an unknown key or an invalid value."""
    keys = {key.name: key for key in KEYS}
    unknown = sorted(texts.keys() - keys.keys())
    if unknown:
        raise ConfigError(f"{unknown[0]} is no key of zoo.cfg that can be set here; those are {', '.join(keys)}")
    values = {name: keys[name].read(text) for name, text in texts.items()}
    shortest, longest = (values.get(name, keys[name].default) for name in ("minSessionTimeout", "maxSessionTimeout"))
    if shortest > longest:
        raise ConfigError(f"minSessionTimeout={shortest} must be at most maxSessionTimeout, which is {longest}")
    return values


def default_text() -> str:
    return "".join(f"{key.name}={key.default}\n" for key in KEYS) + _FIXED


def with_settings(text: str, settings: Mapping[str, int]) -> str:
    """Return the text with each setting once, in its place if it has one. Other lines stay as an operator left them."""
    for name, value in settings.items():
        line = f"{name}={value}\n"
        pattern = _line_of(name)
        match = pattern.search(text)
        text = text[: match.start()] + line + pattern.sub("", text[match.end() :]) if match else line + text
    return text


def settings_in(text: str) -> dict[str, str]:
    """Return the values of the KEYS in a zoo.cfg; as in ZooKeeper, the last of several lines."""
    return {key.name: lines[-1] for key in KEYS if (lines := _line_of(key.name).findall(text))}


def _line_of(name: str) -> re.Pattern[str]:
    return re.compile(rf"^[ \t]*{re.escape(name)}[ \t]*=[ \t]*([^\n]*?)[ \t]*(?:\n|\Z)", re.MULTILINE)
