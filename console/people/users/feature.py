"""Declares the people who log in."""

from console.kit.features.declaration import Addresses, Feature

FEATURE = Feature(
    package="console.people.users",
    addresses=(Addresses("", "console.people.users.urls"),),
)
