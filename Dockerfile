# The service with the bundled model: docker build -t trigner . && docker compose up
#
# It runs as a user without a name or a home, needs no writable file system, and fetches nothing.
# Python and the service are its only programs: it has no shell, so `docker exec` runs `python`.
#
# A tag may be moved to another image, a digest may not. `docker buildx imagetools inspect TAG` prints
# that of today: docker build --build-arg BASE=python@sha256:DIGEST
ARG BASE=python:3.11-slim-bookworm

FROM ${BASE} AS build
# Of one Python and platform: for another, run `make hashes` there and name its own.
ARG PLATFORM=cp311-linux-x86_64
WORKDIR /build
COPY hashes/image hashes/image
RUN python -m venv /opt/build \
 && /opt/build/bin/pip install --no-cache-dir --no-deps --only-binary :all: --require-hashes \
      --requirement hashes/image/build-${PLATFORM}.txt \
 && python -m venv --without-pip /opt/trigner \
 && /opt/build/bin/pip --python /opt/trigner install --no-cache-dir --no-deps --only-binary :all: --require-hashes \
      --requirement hashes/image/serve-${PLATFORM}.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/build/bin/pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir wheel . \
 && /opt/build/bin/pip --python /opt/trigner install --no-cache-dir --no-deps --no-index wheel/*.whl \
 && /opt/build/bin/pip --python /opt/trigner check

FROM ${BASE} AS bare
COPY --from=build /opt/trigner /opt/trigner
# Of all programs Python and the service stay: no shell, not even the one that runs this, nothing
# that installs packages, nothing that runs with root's rights.
RUN sed -i 's#^\(root:.*:\)[^:]*$#\1/usr/sbin/nologin#' /etc/passwd \
 && rm -rf /usr/lib/apt /usr/lib/dpkg /usr/local/lib/python3*/ensurepip /usr/local/lib/python3*/site-packages \
 && find / -xdev ! -type d \( -path '*/bin/*' -o -path '*/sbin/*' -o -perm /6000 \) \
      ! -name 'python*' ! -name trigner -delete

# One layer: nothing that was removed lies below it.
FROM scratch
COPY --from=bare / /
ENV PATH=/opt/trigner/bin \
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
