"""/placement/"""

from django.urls import path

from console.placement import views

urlpatterns = [
    path("", views.placement, name="placement"),
    path("+elect/", views.elect, name="elect-leaders"),
]
