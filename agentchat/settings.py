"""The one settings file. Every variable is listed in README.md and `.env.example`.

Without `REDIS_URL` the installation is *local*: it keeps its own services and its secret key under `var/` and
listens on the loopback address only. With `REDIS_URL` it is a production installation and must be told the rest.
"""

import hashlib
import os
import secrets
import tempfile
from pathlib import Path
from typing import Any

import django_stubs_ext
from redis.backoff import NoBackoff
from redis.retry import Retry

from agentchat import environment as env
from agentchat import logs

django_stubs_ext.monkeypatch()  # lets annotations such as ModelAdmin[Message] stand in running code

BASE_DIR = env.BASE_DIR
VAR_DIR = env.directory("VAR_DIR", BASE_DIR / "var")

REDIS_URL = env.redis_url("REDIS_URL")
LOCAL = not env.text("REDIS_URL")  # a wrong one does not make an installation local
DEBUG = env.boolean("DEBUG", False)
PORT = env.integer("PORT", 8000, least=1, most=65535)
SECRET_KEY = env.text("SECRET_KEY") or (env.kept_secret(VAR_DIR / "secret_key") if LOCAL else "")
if not SECRET_KEY:
    env.note("SECRET_KEY", "is not set", "Set it to 50 or more random characters.")
    SECRET_KEY = secrets.token_urlsafe(50)

ALLOWED_HOSTS = env.host_list("ALLOWED_HOSTS")
if LOCAL:
    ALLOWED_HOSTS += ["127.0.0.1", "localhost", "[::1]"]
elif not ALLOWED_HOSTS:
    env.note("ALLOWED_HOSTS", "is not set", "Set it to the host names, separated by commas.")

# --- the application -------------------------------------------------------------------------------------------

AGENTS_ENABLED = env.boolean("AGENTS_ENABLED", False)
HISTORY_SIZE = env.integer("HISTORY_SIZE", 8, least=1, most=200)
MAX_ROUNDS_DEFAULT = env.integer("MAX_ROUNDS_DEFAULT", 100, least=1, most=1000)
ROUND_PAUSE_MS = env.integer("ROUND_PAUSE_MS", 500, least=0, most=600_000)
TURN_BUDGET_S = env.integer("TURN_BUDGET_S", 600, least=1, most=86_400)
FIRST_TOKEN_TIMEOUT_S = env.integer("FIRST_TOKEN_TIMEOUT_S", 300, least=1, most=86_400)
LEASE_TTL_S = env.integer("LEASE_TTL_S", 15, least=3, most=3600)

_PROFILES = ("embedded", "ollama", "openai")
AI_PROFILE = env.choice("AI_PROFILE", "embedded", _PROFILES)
AI_FALLBACKS = env.model_list("AI_FALLBACKS", _PROFILES)
OLLAMA_BASE_URL = env.http_url("OLLAMA_BASE_URL", "http://127.0.0.1:11434")
OLLAMA_API_KEY = env.text("OLLAMA_API_KEY")
OLLAMA_MODEL = env.text("OLLAMA_MODEL", "qwen3:8b")
OPENAI_BASE_URL = env.http_url("OPENAI_BASE_URL", "https://openrouter.ai/api/v1")
OPENAI_API_KEY = env.text("OPENAI_API_KEY")
OPENAI_MODEL = env.text("OPENAI_MODEL", "deepseek/deepseek-chat")

# The second role: topics and search words. Short calls without tools.
UTILITY_PROFILE = env.choice("UTILITY_PROFILE", AI_PROFILE, _PROFILES)
UTILITY_MODEL = env.text("UTILITY_MODEL")
MODEL_PRICES = env.model_prices("MODEL_PRICES")

# --- sources and tools -------------------------------------------------------------------------------------------

TURN_TOOL_ITERATIONS = env.integer("TURN_TOOL_ITERATIONS", 8, least=1, most=50)
TOOL_TIMEOUT_S = env.integer("TOOL_TIMEOUT_S", 15, least=1, most=300)
APPROVAL_TTL_S = env.integer("APPROVAL_TTL_S", 86_400, least=10, most=2_592_000)
WIKIPEDIA_CONTACT = env.text("WIKIPEDIA_CONTACT")
WIKIPEDIA_LANGUAGE = env.text("WIKIPEDIA_LANGUAGE").lower()
TAVILY_API_KEY = env.text("TAVILY_API_KEY")
NEWSAPI_KEY = env.text("NEWSAPI_KEY")
ALPHAVANTAGE_API_KEY = env.text("ALPHAVANTAGE_API_KEY")
WIKIPEDIA_API_URL = env.http_url("WIKIPEDIA_API_URL", "https://{lang}.wikipedia.org/w/api.php")
ARXIV_API_URL = env.http_url("ARXIV_API_URL", "https://export.arxiv.org/api/query")
TAVILY_API_URL = env.http_url("TAVILY_API_URL", "https://api.tavily.com")
NEWSAPI_API_URL = env.http_url("NEWSAPI_API_URL", "https://newsapi.org/v2")
ALPHAVANTAGE_API_URL = env.http_url("ALPHAVANTAGE_API_URL", "https://www.alphavantage.co/query")
MCP_SERVERS = env.mcp_servers("MCP_SERVERS")
# The agents' mail goes out through it; without it there is no tool `send_email`.
_MAIL = env.email_url("EMAIL_URL")
EMAIL_CONFIGURED = bool(_MAIL)
EMAIL_BACKEND = _MAIL.get("EMAIL_BACKEND", "django.core.mail.backends.smtp.EmailBackend")
EMAIL_HOST, EMAIL_PORT = _MAIL.get("EMAIL_HOST") or "", _MAIL.get("EMAIL_PORT", 0)
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _MAIL.get("EMAIL_HOST_USER") or "", _MAIL.get("EMAIL_HOST_PASSWORD") or ""
EMAIL_USE_TLS, EMAIL_USE_SSL = _MAIL.get("EMAIL_USE_TLS", False), _MAIL.get("EMAIL_USE_SSL", False)
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "agentchat@localhost")
TOPIC_CATEGORIES = env.word_list(
    "TOPIC_CATEGORIES",
    "technology AI society,economy inflation future,climate environment crisis,politics democracy freedom,"
    "science space exploration,healthcare medicine future,education technology students,cryptocurrency bitcoin finance",
)

# The embedded model server listens on a free port when the usual one is taken and leaves its address in this file.
EMBEDDED_MODEL_PORT = env.integer("EMBEDDED_MODEL_PORT", 8077, least=1, most=65535)
EMBEDDED_MODEL_PATH = env.text("EMBEDDED_MODEL_PATH")
EMBEDDED_MODEL_ADDRESS_FILE = VAR_DIR / "model-address"

# --- Django ------------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_filters",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "agentchat",
    "accounts",
    "debates",
    "tools_app",
    "providers",
]
MIDDLEWARE = [
    "agentchat.middleware.probes",
    "agentchat.middleware.traced",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "agentchat.urls"
ASGI_APPLICATION = "agentchat.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES: dict[str, dict[str, Any]] = {
    "default": env.database_url("DATABASE_URL", {"ENGINE": env.SQLITE, "NAME": str(VAR_DIR / "db.sqlite3")})
}
if not LOCAL and not env.text("DATABASE_URL"):
    remedy = "Without it each machine would keep a file of its own. Name a PostgreSQL database."
    env.note("DATABASE_URL", "is not set", remedy)
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # IMMEDIATE: a transaction that reads and then writes waits for its turn, where DEFERRED fails at once.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
else:
    # The threads of a worker outnumber the connections that PostgreSQL allows, but need one for moments only: they
    # share these. One that the server has closed since is found out and replaced. The pool soon begins anew to try a
    # server that is away; by itself it would notice the return only after about as long again.
    DATABASES["default"] |= {"CONN_MAX_AGE": 0, "CONN_HEALTH_CHECKS": True}
    _POOL = {"pool": {"min_size": 1, "max_size": 20, "timeout": 10, "reconnect_timeout": 10}}
    DATABASES["default"].setdefault("OPTIONS", {}).update(_POOL)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}Validator"}
    for name in ("UserAttributeSimilarity", "MinimumLength", "CommonPassword", "NumericPassword")
]
LOGIN_URL = "accounts:sign-in"
LOGIN_REDIRECT_URL = "debates:start"
LOGOUT_REDIRECT_URL = "accounts:sign-in"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATIC_ROOT.mkdir(exist_ok=True)
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = LOCAL
WHITENOISE_AUTOREFRESH = DEBUG
if not LOCAL:
    STORAGES = {
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
        "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
    }

# --- security ----------------------------------------------------------------------------------------------------

HTTPS_ONLY = env.boolean("HTTPS_ONLY", not LOCAL)
SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS_ONLY
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS_ONLY else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS_ONLY
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS_ONLY else None
CSRF_TRUSTED_ORIGINS = [f"https://{host.lstrip('.')}" for host in ALLOWED_HOSTS if HTTPS_ONLY and host != "*"]
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
}

# --- broker, live events, cache ----------------------------------------------------------------------------------

# A Unix socket, not a port: only this user can connect. A socket's path may not be longer than about 100 characters.
VALKEY_SOCKET = VAR_DIR / "valkey.sock"
if len(str(VALKEY_SOCKET)) > 100:
    _digest = hashlib.sha256(str(VAR_DIR).encode()).hexdigest()[:12]
    VALKEY_SOCKET = Path(tempfile.gettempdir()) / f"agentchat-{os.getuid()}-{_digest}" / "valkey.sock"

EVENTS_URL = REDIS_URL or f"unix://{VALKEY_SOCKET}"
CELERY_BROKER_URL = EVENTS_URL.replace("unix://", "redis+socket://", 1)
# What is not found in the cache is asked for anew, so a server that is away or frozen must not be waited for.
CACHES = {
    "default": {
        "BACKEND": "providers.shared_cache.SharedRedisCache",
        "LOCATION": EVENTS_URL,
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1, "retry": Retry(NoBackoff(), 0)},
    }
}

CELERY_TASK_ACKS_LATE = False
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_DISABLE_PREFETCH = True  # a call waits where another process, or one that goes first, can pass it
CELERY_WORKER_CONCURRENCY = env.integer("WORKER_THREADS", 200, least=1, most=2000)
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Without a broker a request must not wait: the debate stays queued and the reaper wakes a worker later.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_connect_timeout": 2,
    "socket_timeout": 2,
    "max_retries": 1,
    "interval_start": 0.1,
    "connect_retries_timeout": 2,
}
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "beat-schedule")
# Often, since a debate whose worker has died waits for it. It expires, so as not to pile up for ever while there is no
# worker; but by the clock of the worker that takes it, which may be minutes off.
CELERY_BEAT_SCHEDULE = {"reap": {"task": "debates.reap", "schedule": 2.0, "options": {"expires": 600}}}

# --- API ---------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "EXCEPTION_HANDLER": "debates.api_errors.error_response",
    "PAGE_SIZE": 50,
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Agent Chat",
    "DESCRIPTION": "Two language-model agents with opposing convictions argue about a topic, live.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1/",
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enums", "debates.api_events.document_events"],
    "ENUM_NAME_OVERRIDES": {
        "StatusEnum": "debates.models.Conversation.Status",
        "ApprovalStatusEnum": "tools_app.models.Approval.Status",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

# --- logs and metrics --------------------------------------------------------------------------------------------

LOG_LEVEL = env.choice("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"))
LOG_FORMAT = env.choice("LOG_FORMAT", "plain" if LOCAL else "json", ("plain", "json"))
METRICS_TOKEN = env.text("METRICS_TOKEN")
METRICS_PORT = env.integer("METRICS_PORT", 0, least=0, most=65535)
# On a laptop a line a tool call would bury what matters on the screen.
LOGGING = logs.config(LOG_LEVEL, LOG_FORMAT, VAR_DIR / "audit.log" if LOCAL else None, env.secrets_known())
