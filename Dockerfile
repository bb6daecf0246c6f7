# A node that listens on all interfaces of the container, on ports 8545 and 3001. It writes no files, so the root file
# system can be read-only.
#
#   docker build -t tetrad .
#   docker run --rm --read-only -p 8545:8545 -p 3001:3001 tetrad

FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --profile dist --locked --features js-tracer && strip target/dist/tetrad
# With `--entrypoint anvil` it runs in the place of anvil.
RUN mkdir /out && mv target/dist/tetrad /out/ && ln -s tetrad /out/anvil

# Only the C library: no shell, no package manager.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /out/ /usr/local/bin/
ENV TETRAD_LISTEN=0.0.0.0:8545 TETRAD_WS_LISTEN=0.0.0.0:3001
EXPOSE 8545 3001
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s --retries=3 CMD ["/usr/local/bin/tetrad", "probe"]
ENTRYPOINT ["/usr/local/bin/tetrad"]
