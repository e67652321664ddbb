"""Declares single sign-on by OpenID Connect."""

from console.kit.features.declaration import Feature, RouteModule

FEATURE = Feature(
    package="console.people.sso",
    addresses=(RouteModule("", "console.people.sso.urls"),),
)
