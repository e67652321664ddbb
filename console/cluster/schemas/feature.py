"""Declares the pages of the schema registry."""

from console.kit.features.declaration import Addresses, Feature, PushedPage
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.schemas",
    addresses=(Addresses("schemas/", "console.cluster.schemas.urls"),),
    pushed_pages=(PushedPage("schemas", (groups.SCHEMAS,), is_only_news=True),),
)
