# Two stages: everything that builds stays in the first; the second has the binary and the shared libraries it needs.
#   docker build -t suanpan .
#   docker compose up -d        (docker-compose.yml: volume, limits, no privileges)
FROM debian:bookworm-slim AS build
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends bash binutils gcc libc6-dev make \
        libcsv-dev libjansson-dev libmicrohttpd-dev libsqlite3-dev libuv1-dev zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN make -s -j"$(nproc)" build && strip --strip-unneeded build/release/suanpan

FROM debian:bookworm-slim
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends libcsv3 libjansson4 libmicrohttpd12 libsqlite3-0 libuv1 zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin suanpan \
    && install -d -o suanpan -g suanpan -m 0700 /data
COPY --from=build /src/build/release/suanpan /usr/local/bin/suanpan
USER suanpan
VOLUME /data
# Inside a container the port is reached through a published port only, so listening on all addresses is right here;
# publish it on the host's loopback (docker-compose.yml does) until there are keys.
ENV SUANPAN_HOST=0.0.0.0 SUANPAN_PORT=8080 SUANPAN_DB=/data/suanpan.db SUANPAN_MAX_CONNECTIONS_PER_IP=0
EXPOSE 8080
STOPSIGNAL SIGTERM
# No curl in the image: bash speaks enough HTTP over /dev/tcp to read a status line.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r line <&3 && [[ $line == *' 200 '* ]]"]
ENTRYPOINT ["suanpan"]
CMD ["serve"]
