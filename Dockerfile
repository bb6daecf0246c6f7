# A node that listens on all of the container's interfaces; publish ports 8545 and 3001.
#
#   docker build -t tetrad .
#   docker run --rm -p 8545:8545 -p 3001:3001 tetrad

FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked && strip target/release/tetrad

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends curl \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /nonexistent --shell /usr/sbin/nologin tetrad
COPY --from=build /src/target/release/tetrad /usr/local/bin/tetrad
USER tetrad
ENV TETRAD_LISTEN=0.0.0.0:8545 TETRAD_WS_LISTEN=0.0.0.0:3001
EXPOSE 8545 3001
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
    CMD ["curl", "--fail", "--silent", "--output", "/dev/null", "http://127.0.0.1:8545/ready"]
ENTRYPOINT ["tetrad"]
