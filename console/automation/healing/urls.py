"""The routes below /healing/."""

from django.urls import path

from console.automation.healing import views

urlpatterns = [
    path("", views.healing, name="healing"),
    path("+rule/<slug:kind>/", views.rule, name="healing-rule"),
    path("<int:number>/", views.proposal, name="healing-proposal"),
    path("<int:number>/dismiss", views.dismiss, name="healing-dismiss"),
]
