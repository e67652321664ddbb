"""The routes below /audit/."""

from django.urls import path

from console.kit.audit import views

urlpatterns = [path("", views.audit_list, name="audit"), path("+verify/", views.audit_verify, name="audit-verify")]
