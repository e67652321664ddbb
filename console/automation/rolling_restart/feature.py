"""Declares the rolling restart of all brokers."""

from console.kit.features.declaration import Addresses, Database, Feature

FEATURE = Feature(
    package="console.automation.rolling_restart",
    database=Database.CLUSTER,
    addresses=(Addresses("processes/+rolling-restart/", "console.automation.rolling_restart.urls"),),
)
