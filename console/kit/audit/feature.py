"""Declares the audit of what people did."""

from console.kit.access.places import PagePlace
from console.kit.access.roles import Right
from console.kit.common.time_range import RANGE_NAMES
from console.kit.features.api import ApiRead
from console.kit.features.declaration import Database, Feature, PageLink, RouteModule, SidebarEntry
from console.kit.features.table import FeatureTable, columns_of

_AUDIT = PagePlace("Audit", "audit", "who did", right=Right.ADMINISTER)

FEATURE = Feature(
    package="console.kit.audit",
    database=Database.CONSOLE,
    addresses=(RouteModule("audit/", "console.kit.audit.urls"),),
    links=(PageLink("Audit", "audit", entry=SidebarEntry.ACTIVITY, needs=("can_administer",), after="history"),),
    places=(_AUDIT,),
    reads=(ApiRead("audit", "audit", "What people did", after="changes"),),
    tables=(
        FeatureTable(
            _AUDIT,
            columns_of("Row, Time, Person, Action, Object, Result, Values"),
            filters=("search", "object", "result", *RANGE_NAMES),
        ),
    ),
)
