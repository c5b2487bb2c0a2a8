from django.urls import include, path, re_path
from rest_framework.routers import SimpleRouter

from debates.api import DebateViewSet
from debates.api_catalogue import ModelsView, PersonaViewSet
from debates.api_errors import NothingHere
from debates.api_events import events

router = SimpleRouter(use_regex_path=False)
router.register("debates", DebateViewSet, basename="debate")
router.register("personas", PersonaViewSet, basename="persona")

app_name = "api"
urlpatterns = [
    path("debates/<uuid:pk>/events/", events, name="debate-events"),
    path("models/", ModelsView.as_view(), name="models"),
    path("", include(router.urls)),
    re_path("", NothingHere.as_view()),
]
