"""Declares the collector, which reads the cluster."""

from console.kit.features.declaration import Feature
from console.kit.features.tier import CollectorTier

FEATURE = Feature(
    package="console.shell.collector",
    is_app=True,
    tiers=(
        CollectorTier("brokers", 1.0, "console.shell.collector.collector.broker_tier"),
        CollectorTier("topics", 1.5, "console.shell.collector.collector.topic_tier"),
        CollectorTier("zookeeper", 1.0, "console.shell.collector.collector.zookeeper_tier"),
    ),
)
