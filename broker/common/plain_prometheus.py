"""prometheus_client without the HTTP servers and clients it brings along, which no process of ours uses, and without
snappy, which it imports where there is one.

That is 1 to 2 MB in each of them. Its classes that derive from those are made of nothing meanwhile.
"""

import sys
from types import ModuleType

_SNAPPY = "snappy"
_LEFT_OUT = ("http.server", "socketserver", "urllib.request", "wsgiref.simple_server")


class _Nothing(ModuleType):
    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


_replaced = [name for name in _LEFT_OUT if name not in sys.modules]
if "prometheus_client" not in sys.modules:
    sys.modules.update({name: _Nothing(name) for name in _replaced})
    sys.modules.setdefault(_SNAPPY, None)  # type: ignore[arg-type]  # what cannot be imported
try:
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
    from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
    from prometheus_client.process_collector import ProcessCollector
    from prometheus_client.registry import Collector, RestrictedRegistry
finally:
    for name in _replaced:
        if isinstance(sys.modules.get(name), _Nothing):
            del sys.modules[name]
    if sys.modules.get(_SNAPPY, sys) is None:
        del sys.modules[_SNAPPY]

__all__ = [
    "CONTENT_TYPE_PLAIN_0_0_4",
    "Collector",
    "CollectorRegistry",
    "CounterMetricFamily",
    "GaugeMetricFamily",
    "Metric",
    "ProcessCollector",
    "RestrictedRegistry",
    "generate_latest",
]
