FROM python:3.13-slim
WORKDIR /app
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
COPY requirements/base.txt requirements/base.txt
RUN pip install --no-cache-dir --no-deps --require-hashes -r requirements/base.txt
COPY . .
# The static files are collected with placeholder settings; none of them stays in the image.
RUN SECRET_KEY=only-for-this-line ALLOWED_HOSTS=localhost REDIS_URL=redis://localhost \
    DATABASE_URL=sqlite:////tmp/none.sqlite3 python manage.py collectstatic --noinput --skip-checks \
    && useradd --create-home agentchat && mkdir -p var && chown agentchat var
USER agentchat
# A shell, because some hosts say in PORT where they look for it.
CMD ["sh", "-c", "exec uvicorn agentchat.asgi:application --host 0.0.0.0 --port ${PORT:-8000} --workers 1 --proxy-headers --no-access-log --timeout-graceful-shutdown 5"]
