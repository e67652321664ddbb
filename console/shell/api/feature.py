"""Declares the API and its tokens."""

from console.kit.access.places import PagePlace
from console.kit.features.declaration import Feature, FormsOf, PageLink, RouteModule, SidebarEntry

FEATURE = Feature(
    package="console.shell.api",
    addresses=(RouteModule("", "console.shell.api.urls"),),
    links=(PageLink("API tokens", "tokens", entry=SidebarEntry.ACCOUNT, after="own-password"),),
    places=(PagePlace("API tokens", "tokens", "programs"),),
    forms=(FormsOf("tokens", ("token-end", "token-make"), is_one_for_all=True),),
    always_open=(
        "api",
        "api-mcp",
    ),
)
