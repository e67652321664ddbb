"""Declares the decommission of a broker."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.automation.decommission",
    database=Database.CLUSTER,
    addresses=(Addresses("processes/+decommission/", "console.automation.decommission.urls"),),
    template_libraries=("decommission",),
)
