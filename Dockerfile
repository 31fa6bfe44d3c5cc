# Pinakes as an image: `docker build .` has encoders for the processor, `--target gpu` for a GPU of NVIDIA's,
# `--target light` SQL, BM25, loading and scoring alone, `--target cron` runs a crontab (see compose.yaml).
#   docker run --rm --volume pinakes:/srv/pinakes pinakes load synthetic
# Databases and indexes are in the volume /srv/pinakes; PINAKES_DATABASE_URL names a database elsewhere. Nothing
# secret is in a layer: passwords come with the environment, when a container starts.

FROM python:3.13-slim-trixie AS wheel
WORKDIR /source
RUN pip install --no-cache-dir "hatchling>=1.27"
COPY pyproject.toml README.md LICENSE ./
COPY src src
COPY schema schema
COPY loaders loaders
COPY indexers indexers
COPY queries queries
COPY evaluators evaluators
RUN pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels .

FROM python:3.13-slim-trixie AS installed
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY constraints.txt /constraints.txt
COPY --from=wheel /wheels /wheels
RUN python -m venv /opt/pinakes \
    && /opt/pinakes/bin/pip install --no-compile --constraint /constraints.txt /wheels/*.whl

FROM installed AS installed-cpu
# PyTorch's own index has builds without CUDA.
RUN /opt/pinakes/bin/pip install --no-compile --constraint /constraints.txt \
        --extra-index-url https://download.pytorch.org/whl/cpu "torch==2.13.0+cpu" \
    && /opt/pinakes/bin/pip install --no-compile --constraint /constraints.txt \
        "$(echo /wheels/*.whl)[cpu,texts,report]"

FROM installed AS installed-gpu
# The wheels of torch and Faiss bring CUDA's libraries; the driver is the host's.
RUN /opt/pinakes/bin/pip install --no-compile --constraint /constraints.txt "$(echo /wheels/*.whl)[gpu,texts,report]"

FROM python:3.13-slim-trixie AS base
RUN useradd --uid 1000 --create-home --home-dir /srv/pinakes pinakes
ENV PATH=/opt/pinakes/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PINAKES_INDEX_FOLDER=/srv/pinakes/indexes \
    HF_HOME=/srv/pinakes/models
WORKDIR /srv/pinakes
VOLUME /srv/pinakes
HEALTHCHECK --interval=1m --timeout=20s --start-period=10s CMD ["pinakes", "--version"]
ENTRYPOINT ["pinakes"]
CMD ["--help"]

FROM base AS light
COPY --from=installed /opt/pinakes /opt/pinakes
USER pinakes

FROM base AS gpu
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
COPY --from=installed-gpu /opt/pinakes /opt/pinakes
USER pinakes

FROM base AS cron
RUN apt-get update \
    && apt-get install --yes --no-install-recommends cron \
    && rm -rf /var/lib/apt/lists/*
COPY --from=installed-cpu /opt/pinakes /opt/pinakes
COPY compose/start-cron.sh /usr/local/bin/start-cron
# cron itself is root's, since it starts jobs as another user; every job is one of the user pinakes.
HEALTHCHECK --interval=1m --timeout=20s --start-period=10s CMD ["grep", "-q", "^cron$", "/proc/1/comm"]
ENTRYPOINT ["start-cron"]
CMD []

FROM base AS cpu
COPY --from=installed-cpu /opt/pinakes /opt/pinakes
USER pinakes
