from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render, resolve_url
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST, require_safe

from accounts import links, tokens
from accounts.forms import TokenForm
from accounts.models import ApiToken

MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"


@never_cache
@require_safe
def enter(request: HttpRequest, uidb64: str, token: str) -> HttpResponse:
    """Sign in by a one-time link. HEAD, which link previews send, does not use it up."""
    if request.method == "HEAD":
        return HttpResponse()
    user = links.redeem(uidb64, token)
    if user is not None:
        login(request, user, backend=MODEL_BACKEND)
    elif not request.user.is_authenticated or request.user != links.find(uidb64):
        return render(request, "accounts/link_used.html", status=410)
    return redirect(_destination(request))


def _destination(request: HttpRequest) -> str:
    wanted = request.GET.get("next", "")
    if url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure()):
        return wanted
    return resolve_url(settings.LOGIN_REDIRECT_URL)


@never_cache
@login_required
@require_safe
def settings_page(request: HttpRequest) -> HttpResponse:
    return _settings_page(request, TokenForm())


@never_cache
@login_required
@require_POST
@sensitive_variables("secret")
def make_token(request: HttpRequest) -> HttpResponse:
    """The answer itself shows the secret, so that it is kept nowhere, not even in the session."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _settings_page(request, form, status=400)
    _, secret = tokens.make(_person(request), form.cleaned_data["name"])
    return _settings_page(request, TokenForm(), secret=secret)


@login_required
@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(ApiToken, pk=pk, user=_person(request))
    token.delete()
    messages.success(request, f"The token {token.name} no longer works.")
    return redirect("accounts:settings")


@method_decorator(never_cache, name="dispatch")
class PasswordView(PasswordChangeView):
    """Change the password, or set the first one: who came by a link has none to repeat."""

    template_name = "accounts/password.html"
    success_url = reverse_lazy("accounts:settings")

    def get_form_class(self) -> type[Any]:
        return PasswordChangeForm if _person(self.request).has_usable_password() else SetPasswordForm

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(self.request, "Your password is set.")
        return super().form_valid(form)


def _settings_page(request: HttpRequest, form: TokenForm, *, secret: str = "", status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "secret": secret,
        "tokens": _person(request).api_tokens.all(),
        "site": request.build_absolute_uri("/").rstrip("/"),
    }
    return render(request, "accounts/settings.html", context, status=status)


def _person(request: HttpRequest) -> User:
    return cast(User, request.user)  # login_required has seen to it
