# The server, and every command of users: one static program on Debian.
#
#   docker build -t segue .
#   docker run -p 7411:7411 -v segue:/var/lib/segue segue
#
# With segue-trainer, libtorch and libxgboost besides, for nightly training:
#
#   docker build --target trainer -t segue:trainer .
#
# A builder that makes stages that nothing asks for (docker without BuildKit, kaniko) is
# spared the trainer, minutes of C++, by --target server, the same image as without.
#
# Where Slurm's commands and munge are to be used inside, build on an image that has
# them: --build-arg BASE=... For the trainer it has to be one of Debian 12.
ARG BASE=debian:12-slim

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN scripts/build && install -D bin/segue /out/segue

FROM ${BASE} AS base
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates tzdata \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 7411 --home-dir /var/lib/segue --create-home --shell /usr/sbin/nologin segue
USER segue
WORKDIR /var/lib/segue
VOLUME /var/lib/segue
EXPOSE 7411
HEALTHCHECK --interval=30s --timeout=6s --start-period=20s CMD ["segue", "health"]
ENTRYPOINT ["segue"]
# Put a proxy with TLS before it, or mount a certificate and name it instead.
CMD ["serve", "--listen", "0.0.0.0:7411", "--tls-elsewhere", "--data", "/var/lib/segue"]

FROM base AS server
COPY --from=build /out/segue /usr/bin/segue

FROM build AS build-trainer
RUN scripts/trainer-files /out

FROM base AS trainer
COPY --from=build-trainer /out/packages.txt /usr/share/segue/trainer-packages.txt
USER root
RUN apt-get update \
 && apt-get install -y --no-install-recommends $(cat /usr/share/segue/trainer-packages.txt) \
 && rm -rf /var/lib/apt/lists/*
USER segue
COPY --from=build-trainer /out/segue-trainer /usr/bin/segue-trainer
COPY --from=build /out/segue /usr/bin/segue

FROM server
