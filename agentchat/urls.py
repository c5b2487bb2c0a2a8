from csp.decorators import csp_update
from django.contrib import admin
from django.contrib.staticfiles.storage import staticfiles_storage
from django.urls import include, path
from django.utils.functional import lazy
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

# The page of Swagger UI brings a style sheet of its own inside the page; its scripts are files.
api_docs = csp_update({"style-src": ["'self'", "'unsafe-inline'"]})(SpectacularSwaggerSplitView.as_view())

admin.site.site_header = admin.site.site_title = "Agent Chat"

handler500 = "debates.api_errors.server_error"
# Pages that are not ours, such as the admin's, name no icon.
icon = RedirectView.as_view(url=lazy(staticfiles_storage.url, str)("icon.svg"))

urlpatterns = [
    path("favicon.ico", icon),
    path("", include("debates.urls")),
    path("accounts/", include("accounts.urls")),
    path("admin/", admin.site.urls),
    path("api/v1/", include("debates.api_urls")),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs/", api_docs, name="api-docs"),
]
