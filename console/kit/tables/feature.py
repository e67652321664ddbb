"""Declares kept columns, filters and views of lists."""

from console.kit.access.places import PagePlace
from console.kit.features.declaration import Database, Feature, FormsOf, PageLink, RouteModule, SidebarEntry

FEATURE = Feature(
    package="console.kit.tables",
    database=Database.CONSOLE,
    addresses=(RouteModule("views/", "console.kit.tables.urls"),),
    links=(PageLink("Saved views", "views", entry=SidebarEntry.ACCOUNT),),
    places=(PagePlace("Saved views", "views", "columns filters lists"),),
    forms=(
        FormsOf("overview", ("density",), is_one_for_all=True),
        FormsOf("views", ("table-arrange", "view-change", "view-delete", "view-save"), is_one_for_all=True),
    ),
    always_open=(
        "density",
        "table-arrange",
        "view-change",
        "view-delete",
        "view-save",
    ),
)
