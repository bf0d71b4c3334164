# whyscan in a container: `docker build --target core .`, or with Spark and a Java of its own (the default).
# Versions are those of requirements/, by hash.
FROM python:3.13-slim AS core
COPY requirements/core.txt /tmp/core.txt
RUN pip install --no-cache-dir --require-hashes -r /tmp/core.txt
COPY pyproject.toml README.md LICENSE CHANGELOG.md /src/
COPY src /src/src
RUN pip install --no-cache-dir --no-deps /src && rm -rf /src /tmp/core.txt && useradd --create-home whyscan
USER whyscan
WORKDIR /work
ENTRYPOINT ["whyscan"]

FROM core AS spark
USER root
COPY requirements/container.txt /tmp/container.txt
RUN pip install --no-cache-dir --require-hashes -r /tmp/container.txt && rm /tmp/container.txt
USER whyscan
