"""Declares access control lists of the cluster."""

from console.kit.access.places import PagePlace
from console.kit.access.roles import Right
from console.kit.features.api import ApiAction, ApiRead
from console.kit.features.declaration import Feature, PageLink, PushedPage, RouteModule, SameAction, SidebarEntry
from console.kit.features.tier import CollectorTier
from console.kit.features.verbs import ObjectKind, Verb

LIVE_GROUP = "acls"

FEATURE = Feature(
    package="console.cluster.acls",
    addresses=(RouteModule("access-lists/", "console.cluster.acls.urls"),),
    template_libraries=("acls",),
    links=(
        PageLink(
            "ACLs",
            "acls",
            entry=SidebarEntry.ACCESS,
            needs=("sees_all_names",),
            also_at=("/access-lists/rules/", "/access-lists/try-out/", "/access-lists/denials/"),
        ),
    ),
    places=(
        PagePlace("ACLs", "acls", "access lists rules matrix", names_all=True),
        PagePlace("Denials", "acl-denials", "acl refused", names_all=True),
        PagePlace("Effective permissions", "acl-try-out", "acl try out", names_all=True),
    ),
    commands=(
        PagePlace(
            "Allow or deny", "acl-create", "acl rule new", right=Right.GRANT, names_all=True, after="quota-change"
        ),
        PagePlace(
            "Rules for a producer or consumer", "acl-use", "acl template client", right=Right.GRANT, names_all=True
        ),
        PagePlace("Access rules from a file", "acl-file", "acl csv import", right=Right.GRANT, names_all=True),
    ),
    verbs=(
        Verb("ACL rules of {name}", ObjectKind.PRINCIPAL, "acl-rules", "access", Right.VIEW, query="principal"),
        Verb("Topics and groups {name} may use", ObjectKind.PRINCIPAL, "acls", "acl", Right.VIEW, query="principal"),
    ),
    pushed_pages=(PushedPage("acls", (LIVE_GROUP,), names_all=True),),
    reads=(
        ApiRead("access-rules", "acl-rules", "ACLs of the cluster", after="quotas"),
        ApiRead("denials", "acl-denials", "What was denied of late"),
    ),
    actions=(
        ApiAction(
            "create-rules",
            "acl-create",
            "Allow or deny in the cluster",
            query=("permission", "principal", "host", "resource", "pattern", "name", "operations"),
            confirms="acl-change",
            after="change-quotas",
        ),
        ApiAction(
            "change-rules", "acl-change", "Take rules away, or take a change of them back", query=("remove", "undo")
        ),
    ),
    same_actions=(
        SameAction("create access rules", ("change access rules",)),
        SameAction("delete access rules", ("change access rules",)),
    ),
    suggested_actions=("change access rules",),
    tiers=(CollectorTier("denials", 10.0, "console.cluster.acls.collect.tier"),),
)
