"""/zookeeper/"""

from django.urls import path

from console.zookeeper import views

urlpatterns = [
    path("", views.ensemble, name="zookeeper"),
    path("znodes/", views.znodes, name="zookeeper-znodes"),
]
