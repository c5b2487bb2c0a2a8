from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from accounts import views

app_name = "accounts"
urlpatterns = [
    path("sign-in/", LoginView.as_view(template_name="accounts/sign_in.html", next_page="/"), name="sign-in"),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("enter/<uidb64>/<token>/", views.enter, name="enter"),
    path("settings/", views.settings_page, name="settings"),
    path("password/", views.PasswordView.as_view(), name="password"),
    path("tokens/", views.make_token, name="token-make"),
    path("tokens/<int:pk>/revoke/", views.revoke_token, name="token-revoke"),
]
