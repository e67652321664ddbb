"""Which keys of a server's zoo.cfg can be set, and what one on this host says: asked of `broker.zookeeper`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from broker.config.definition import ConfigError
from broker.zookeeper import zoo_cfg


@dataclass(frozen=True, slots=True)
class ZooKey:
    name: str
    default: str | None
    meaning: str
    at_least: float | None
    at_most: float | None


def zoo_keys() -> list[ZooKey]:
    return [ZooKey(k.name, k.default_text, k.meaning, k.at_least, k.at_most) for k in zoo_cfg.KEYS]


def why_wrong(settings: Mapping[str, str]) -> str:
    """Return why a server cannot have these settings; empty if it can."""
    try:
        zoo_cfg.read_settings(settings)
    except ConfigError as error:
        return f"{error}."
    return ""


def zoo_settings(directory: Path) -> dict[str, str]:
    """Return the settings of the server of this directory; the defaults before its first start."""
    try:
        text = (directory / "zoo.cfg").read_text()
    except OSError:
        text = zoo_cfg.default_text()
    return zoo_cfg.settings_in(text)
