# A PostgreSQL 15 of Debian 12 with the extension. docs/operations.md says how to use it.
#
#   docker build --tag pg_sanitize .

FROM rust:1.95.0-bookworm AS build
# The image's own toolchain, which is the one that rust-toolchain.toml names.
ENV RUSTUP_TOOLCHAIN=1.95.0
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
        make gcc libc6-dev clang libclang-dev binutils dpkg-dev postgresql-server-dev-15
WORKDIR /src
COPY . .
RUN make deb PG_CONFIG=/usr/lib/postgresql/15/bin/pg_config

FROM debian:bookworm-slim
COPY --from=build /src/target/deb /tmp/deb
# Debian's package would make a cluster of its own: docker/start makes one where the volume is.
RUN apt-get update \
 && mkdir -p /etc/postgresql-common/createcluster.d \
 && echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.d/none.conf \
 && apt-get install -y --no-install-recommends /tmp/deb/*.deb \
 && rm -rf /tmp/deb /var/lib/apt/lists/*
COPY docker/start /usr/local/bin/start
ENV LANG=C.UTF-8 PGDATA=/var/lib/postgresql/data PATH=/usr/lib/postgresql/15/bin:/usr/local/bin:/usr/bin:/bin
USER postgres
VOLUME /var/lib/postgresql
EXPOSE 5432
# A fast shutdown: open transactions are rolled back.
STOPSIGNAL SIGINT
ENTRYPOINT ["/usr/local/bin/start"]
