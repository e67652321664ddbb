"""/find/"""

from django.urls import path

from console.palette import views

urlpatterns = [path("find/", views.found, name="find")]
