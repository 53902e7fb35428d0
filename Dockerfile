# The server, and every command of users: one static program on Debian. Training is
# segue-trainer's, which needs libtorch and libxgboost: scripts/trainer builds it.
#
#   docker build -t segue .
#   docker run -p 7411:7411 -v segue:/var/lib/segue segue
#
# Where Slurm's commands and munge are to be used inside, build on an image that has
# them: --build-arg BASE=...
ARG BASE=debian:12-slim

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN scripts/build && install -D bin/segue /out/segue

FROM ${BASE}
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates tzdata \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 7411 --home-dir /var/lib/segue --create-home --shell /usr/sbin/nologin segue
COPY --from=build /out/segue /usr/bin/segue
USER segue
WORKDIR /var/lib/segue
VOLUME /var/lib/segue
EXPOSE 7411
HEALTHCHECK --interval=30s --timeout=6s --start-period=20s CMD ["segue", "health"]
ENTRYPOINT ["segue"]
# Put a proxy with TLS before it, or mount a certificate and name it instead.
CMD ["serve", "--listen", "0.0.0.0:7411", "--tls-elsewhere", "--data", "/var/lib/segue"]
