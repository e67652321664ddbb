"""Declares client quotas and their use."""

from console.kit.access.places import Place
from console.kit.access.roles import Right
from console.kit.features.declaration import Addresses, Database, Feature, Link, PushedPage, RowKind, Section
from console.kit.live import groups

FEATURE = Feature(
    package="console.cluster.quotas",
    database=Database.CLUSTER,
    addresses=(Addresses("quotas/", "console.cluster.quotas.urls"),),
    links=(Link("Quotas", "quotas", section=Section.SECURITY, after="credentials"),),
    places=(Place("Quotas", "quotas", "limits throttle", names_all=True),),
    commands=(Place("Set a quota", "quota-change", "limit", right=Right.OPERATE, names_all=True),),
    pushed_pages=(PushedPage("quotas", (groups.QUOTAS,), names_all=True),),
    row_kinds=(RowKind("quota-row", "console.cluster.quotas.row_renderers.quota_rows"),),
)
