from django.urls import include, path, re_path
from rest_framework.routers import SimpleRouter

from debates.api import DebateViewSet
from debates.api_catalogue import ModelsView, PersonaViewSet
from debates.api_errors import NothingHere
from debates.api_events import events
from debates.api_preflight import PreflightView
from debates.api_tools import ToolsView
from debates.api_topics import TopicsView

router = SimpleRouter(use_regex_path=False)
router.register("debates", DebateViewSet, basename="debate")
router.register("personas", PersonaViewSet, basename="persona")

app_name = "api"
urlpatterns = [
    path("debates/<uuid:pk>/events/", events, name="debate-events"),
    path("debates/preflight/", PreflightView.as_view(), name="preflight"),
    path("models/", ModelsView.as_view(), name="models"),
    path("tools/", ToolsView.as_view(), name="tools"),
    path("topics/", TopicsView.as_view(), name="topics"),
    path("", include(router.urls)),
    re_path("", NothingHere.as_view()),
]
