"""Declares the console's own requests to brokers."""

from console.kit.features.declaration import Addresses, Feature, PushedPage
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.footprint",
    addresses=(Addresses("footprint/", "console.cluster.footprint.urls"),),
    pushed_pages=(PushedPage("footprint", (groups.FOOTPRINT,), is_only_news=True),),
)
