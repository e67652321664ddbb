"""Charts as inline SVG drawn on the server from stored samples."""

from django import template
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.simple_tag
def sparkline(values: list[float], width: int = 160, height: int = 36) -> SafeString:
    """Draw a line over a filled area, newest value at the right edge, zero at the bottom. Empty below two values."""
    if len(values) < 2:
        return mark_safe("")
    points = spark_points(values, width, height)
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return mark_safe(
        f'<svg class="sparkline" viewBox="0 0 {width} {height}" preserveAspectRatio="none" aria-hidden="true">'
        f'<polygon points="{points[0][0]:.1f},{height} {line} {width},{height}"/><polyline points="{line}"/></svg>'
    )


@register.filter
def rest_of_axis(x: int, width: int = 1_000) -> int:
    """Return how much of an axis is right of `x`."""
    return max(0, width - x)


def spark_points(values: list[float], width: int, height: int) -> list[tuple[float, float]]:
    """Return each value as x (evenly spread) and y (zero at the bottom, one pixel of room at the top for the
    stroke).
    """
    highest = max(*values, 1e-9)
    step = width / (len(values) - 1)
    return [(index * step, 1 + (height - 2) * (1 - value / highest)) for index, value in enumerate(values)]
