"""Versions of TLS as files for Kafka name them: `TLS` was its default to 2.4, and old versions stand in many lists.

Java takes what it has of them. Here they are left out, and the log says so, as long as a version remains that is safe.
"""

from collections.abc import Mapping

from broker.config.definition import ConfigError, accepting, parse_list, render_list

TLS_VERSIONS = ("TLSv1.2", "TLSv1.3")
#: Names that Java knows besides.
_OLD = ("SSL", "SSLv2", "SSLv2Hello", "SSLv3", "TLSv1", "TLSv1.1")
_KEYS = ("ssl.protocol", "ssl.enabled.protocols")


@accepting("TLS, TLSv1.2 or TLSv1.3")
def parse_newest_version(text: str) -> str:
    """Return the newest version there may be; that of `TLS` and of names of old versions is TLSv1.3."""
    if text not in ("TLS", *_OLD, *TLS_VERSIONS):
        raise ValueError(text)
    return text if text in TLS_VERSIONS else TLS_VERSIONS[-1]


@accepting("a list of TLSv1.2 and TLSv1.3", is_list=True)
def parse_versions(text: str) -> tuple[str, ...]:
    """Return the versions of a list without the old ones. Raises ConfigError if only old ones are named."""
    named = parse_list(text)
    if not set(named) <= {*_OLD, *TLS_VERSIONS}:
        raise ValueError(text)
    versions = tuple(version for version in named if version in TLS_VERSIONS)
    if named and not versions:
        raise ConfigError(f"{text} has neither TLSv1.2 nor TLSv1.3; older versions are not safe and not offered")
    return versions


def old_versions(texts: Mapping[str, str]) -> dict[str, str]:
    """Return, by key, the old versions that its text names."""
    named = {
        name: [version for version in parse_list(text) if version in _OLD]
        for name, text in texts.items()
        if name.endswith(_KEYS)
    }
    return {name: render_list(versions) for name, versions in named.items() if versions}
