"""/brokers/"""

from django.urls import path

from console.brokers import views

urlpatterns = [path("", views.broker_list, name="brokers")]
