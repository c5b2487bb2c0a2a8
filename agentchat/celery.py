import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentchat.settings")

app = Celery("agentchat")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
