import os
import warnings

from django.core.asgi import get_asgi_application
from django.core.exceptions import ImproperlyConfigured

from agentchat.environment import PROBLEMS

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentchat.settings")

# WhiteNoise hands out its small static files as plain iterators.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")

application = get_asgi_application()

if PROBLEMS:
    raise ImproperlyConfigured(" ".join(f"{problem.message} {problem.remedy}" for problem in PROBLEMS))
