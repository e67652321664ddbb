"""Declares client quotas and their use."""

from console.kit.features.declaration import Addresses, Database, Feature, PushedPage, RowKind
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.quotas",
    database=Database.CLUSTER,
    addresses=(Addresses("quotas/", "console.cluster.quotas.urls"),),
    pushed_pages=(PushedPage("quotas", (groups.QUOTAS,), names_all=True),),
    row_kinds=(RowKind("quota-row", "console.cluster.quotas.row_renderers.quota_rows"),),
)
