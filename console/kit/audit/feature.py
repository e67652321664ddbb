"""Declares the audit of what people did."""

from console.kit.access.places import Place
from console.kit.access.roles import Right
from console.kit.features.api import Read
from console.kit.features.declaration import Addresses, Database, Feature, Link, Section

FEATURE = Feature(
    package="console.kit.audit",
    database=Database.CONSOLE,
    addresses=(Addresses("audit/", "console.kit.audit.urls"),),
    links=(Link("Audit", "audit", section=Section.CONSOLE),),
    places=(Place("Audit", "audit", "who did", right=Right.ADMINISTER),),
    reads=(Read("audit", "audit", "What people did", after="changes"),),
)
