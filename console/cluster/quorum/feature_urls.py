"""The routes below /features/."""

from django.urls import path

from console.cluster.quorum import views

urlpatterns = [
    path("", views.features, name="features"),
    path("+upgrade/<str:feature>/", views.feature_upgrade, name="feature-upgrade"),
]
