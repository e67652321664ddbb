"""The routes below /drills/."""

from django.urls import path

from console.automation.drill import views

urlpatterns = [
    path("", views.drills, name="drills"),
    path("+begin/", views.begin, name="drill-begin"),
    path("<int:number>/", views.report, name="drill"),
    path("<int:number>/stop", views.stop, name="drill-stop"),
]
