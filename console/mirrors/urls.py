"""/mirrors/"""

from django.urls import path

from console.mirrors import views

urlpatterns = [
    path("", views.mirrors_page, name="mirrors"),
    path("<int:number>/charts/", views.mirror_charts, name="mirror-charts"),
]
