"""Declares the API and its tokens."""

from console.kit.access.places import Place
from console.kit.features.declaration import Addresses, Feature, FormsOf

FEATURE = Feature(
    package="console.shell.api",
    addresses=(Addresses("", "console.shell.api.urls"),),
    places=(Place("Tokens", "tokens", "api programs"),),
    forms=(FormsOf("tokens", ("token-end", "token-make"), is_one_for_all=True),),
    always_open=(
        "api",
        "api-mcp",
    ),
)
