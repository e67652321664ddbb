"""Addresses in another cluster than the one a page is of."""

from django import template

from console.kit.common.cluster_urls import address_in

register = template.Library()


@register.simple_tag
def cluster_url(cluster: str, route: str, *arguments: object) -> str:
    return address_in(cluster, route, *arguments)
