"""What Django's settings and routes take from the declarations."""

from collections.abc import Iterable, Iterator
from importlib import import_module

from console.kit.features.declaration import Database, Feature, RouteModule


def load_features(packages: Iterable[str]) -> tuple[Feature, ...]:
    """Import `feature.py` of each package and return its FEATURE. Raises ValueError if it names another package."""
    features = tuple(import_module(f"{package}.feature").FEATURE for package in packages)
    for package, feature in zip(packages, features, strict=True):
        if feature.package != package:
            raise ValueError(f"The feature in {package} says package={feature.package!r}: write {package!r} there.")
    return features


def apps_of(features: Iterable[Feature]) -> list[str]:
    """Return the packages of `features` that are Django apps, in their order."""
    return [feature.package for feature in features if feature.is_app or feature.database]


def labels_in(features: Iterable[Feature], database: Database) -> frozenset[str]:
    """Return the labels of the apps whose rows lie in `database`."""
    return frozenset(feature.app_label for feature in features if feature.database is database)


def libraries_of(features: Iterable[Feature]) -> dict[str, str]:
    """Return the module of each template library by the library's name."""
    return {
        library: f"{feature.package}.templatetags.{library}"
        for feature in features
        for library in feature.template_libraries
    }


def hooks_of(features: Iterable[Feature]) -> dict[str, tuple[str, ...]]:
    """Return the dotted names of the functions of each hook point, in the order of the features."""
    functions: dict[str, tuple[str, ...]] = {}
    for hook in (hook for feature in features for hook in feature.hooks):
        functions[hook.point] = (*functions.get(hook.point, ()), hook.function)
    return functions


def addresses_of(features: Iterable[Feature]) -> Iterator[RouteModule]:
    """Yield the modules of routes in the order of the features."""
    for feature in features:
        yield from feature.addresses
