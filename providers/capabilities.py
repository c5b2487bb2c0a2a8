"""What a server's model can do beyond talking, from what its server says and what was seen of it."""

from providers import registry
from providers.base import ProviderError
from providers.memory import Memory

_refusals = Memory("no-tools")


def takes_tools(profile: str, model: str) -> bool:
    """False when its server says so or refused tools within the last day; a server that says nothing is tried."""
    if _refusals.get(profile, model):
        return False
    try:
        listed = registry.known_models(profile)
    except ProviderError:
        listed = registry.models_known_now(profile)
    return {info.name: info.tools for info in listed}.get(model) is not False


def tools_refused(profile: str, model: str) -> None:
    _refusals.put(profile, model, True)
