"""Declares single sign-on by OpenID Connect."""

from console.kit.features.declaration import Addresses, Feature

FEATURE = Feature(
    package="console.people.sso",
    addresses=(Addresses("", "console.people.sso.urls"),),
)
