"""What a connector's task configurations are in the configurations' topic."""

from collections.abc import Iterable, Mapping

from broker.connect.plugins.compatible import translate
from broker.connect.providers import refer


def translated(props: Mapping[str, str]) -> dict[str, str]:
    """Return a configuration for a connector of another product as one of ours."""
    return translate(props).props


def published(
    configs: Iterable[Mapping[str, str]], raw: Mapping[str, str], props: Mapping[str, str]
) -> list[dict[str, str]]:
    """Return the tasks' configurations without the values of references; `props` are `raw` with them.

    A connector of another product was started with a translation: of its task only what differs from that is kept
    beside `raw`, so that no translated secret goes to the topic.
    """
    own = translated(props)
    if own == props:
        return [refer(config, raw, props) for config in configs]
    return [{**raw, **{key: text for key, text in config.items() if own.get(key) != text}} for config in configs]
