"""Declares the people who log in."""

from console.kit.access.places import PagePlace
from console.kit.access.roles import Right
from console.kit.features.api import ApiRead
from console.kit.features.declaration import Feature, FormsOf, ObjectHeader, PageLink, RouteModule, SidebarEntry
from console.kit.features.verbs import ObjectKind, Verb

_ADMIN = Right.ADMINISTER

FEATURE = Feature(
    package="console.people.users",
    addresses=(RouteModule("", "console.people.users.urls"),),
    links=(
        PageLink("Console users", "users", entry=SidebarEntry.ACCOUNT, needs=("can_administer",)),
        PageLink("Password", "own-password", entry=SidebarEntry.ACCOUNT, needs=("has_own_password",)),
    ),
    places=(PagePlace("Console users", "users", "people roles rules", right=Right.ADMINISTER),),
    commands=(PagePlace("Create a user", "user-create", "person new", right=Right.ADMINISTER),),
    verbs=(
        Verb("Reset password of {name}", ObjectKind.USER, "user-password", "", _ADMIN, button="Reset password…"),
        Verb("Sign out {name}", ObjectKind.USER, "user-logins", "", _ADMIN, button="Sign out everywhere…"),
    ),
    headers=(ObjectHeader("user", ObjectKind.USER, "console.people.users.header.facts", "Console users", "users"),),
    reads=(ApiRead("users", "users", "People and their roles"),),
    forms=(FormsOf("overview", ("logout",), is_one_for_all=True),),
    always_open=(
        "login",
        "logout",
        "own-password",
    ),
    suggested_actions=("change user",),
    secret_actions=("create user", "reset password"),
)
