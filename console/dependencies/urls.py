"""/dependencies/"""

from django.urls import path

from console.dependencies import views

urlpatterns = [path("", views.dependencies, name="dependencies")]
