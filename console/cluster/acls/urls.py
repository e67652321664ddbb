"""The routes below /access-lists/."""

from django.urls import path

from console.cluster.acls import change_views, views

urlpatterns = [
    path("", views.matrix, name="acls"),
    path("rules/", views.rules, name="acl-rules"),
    path("try-out/", views.try_out, name="acl-try-out"),
    path("denials/", views.denials, name="acl-denials"),
    path("+create/", change_views.create, name="acl-create"),
    path("+use/", change_views.use, name="acl-use"),
    path("+file/", change_views.rule_file, name="acl-file"),
    path("+change/", change_views.change, name="acl-change"),
]
