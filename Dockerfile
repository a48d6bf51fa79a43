# The service with the bundled model: docker build -t trigner . && docker compose up
#
# It runs as a user without a name or a home, needs no writable file system, and fetches nothing.
FROM python:3.11-slim AS build
WORKDIR /build
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN python -m venv /opt/trigner \
 && /opt/trigner/bin/pip install --no-cache-dir --constraint constraints.txt ".[serve]" \
 && /opt/trigner/bin/pip uninstall --yes pip

FROM python:3.11-slim
COPY --from=build /opt/trigner /opt/trigner
ENV PATH=/opt/trigner/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HF_HUB_OFFLINE=1 \
    ORT_DISABLE_TELEMETRY=1 \
    HOME=/nonexistent
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8000, timeout=4); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]
ENTRYPOINT ["trigner", "serve", "--host", "0.0.0.0", "--port", "8000"]
