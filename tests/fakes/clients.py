from django.contrib.auth.models import User
from django.test import AsyncClient, Client


def signed_in(user: User) -> AsyncClient:
    """`AsyncClient.aforce_login` would leave a database connection open in a thread of its own."""
    client = Client()
    client.force_login(user)
    watching = AsyncClient()
    watching.cookies = client.cookies
    return watching
