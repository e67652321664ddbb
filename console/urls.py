"""Every address of the console: the routes of each feature below the prefix that its declaration names."""

from django.conf import settings
from django.urls import include, path

from console.kit.common.cluster_urls import prefix_of
from console.kit.features.listed import features
from console.kit.features.tables import addresses_of

pages = [path(addresses.prefix, include(addresses.module)) for addresses in addresses_of(features())]
urlpatterns = [
    path(prefix_of(settings.CLUSTER), include(pages)),
]

handler400 = "console.shell.web.errors.bad_request"
handler403 = "console.shell.web.errors.forbidden"
handler404 = "console.shell.web.errors.not_found"
handler500 = "console.shell.web.errors.broken"
