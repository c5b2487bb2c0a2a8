import os
import warnings

from django.core.asgi import get_asgi_application

from agentchat.environment import refuse_problems

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentchat.settings")

# WhiteNoise hands out its small static files as plain iterators.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")

application = get_asgi_application()

refuse_problems()
