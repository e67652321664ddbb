"""`{{ plan|digest_for:user }}`: what the form that confirms `plan` sends back."""

from django import template

from console.plans.digest import digest_of

register = template.Library()
register.filter("digest_for", digest_of)
