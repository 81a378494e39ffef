# syntax=docker/dockerfile:1
# Signal Board in a container: docker build -t signal-board .
# By itself it keeps its own PostgreSQL in the volume /data; with DATABASE_URL it needs no volume (see compose.yaml).

FROM node:24-slim AS packages
WORKDIR /board
COPY package.json package-lock.json .npmrc ./
# Not npm ci: a registry may lack an optional package of another platform. The versions are those of the lock file.
RUN npm install --no-save --ignore-scripts --include=dev --include=optional --no-audit --no-fund

FROM packages AS build
ENV NODE_ENV=production
COPY tsconfig.json vite.config.ts vite.server.config.ts ./
COPY domain domain
COPY contract contract
COPY web web
RUN node node_modules/vite/bin/vite.js build
COPY server server
RUN node node_modules/vite/bin/vite.js build --config vite.server.config.ts

FROM packages AS runtime
RUN npm prune --no-save --omit=dev --ignore-scripts --no-audit --no-fund \
  # The image brings its own Node.
  && rm -rf node_modules/node-linux-* node_modules/node-win-*
COPY server/platform/db/embedded-binaries.ts server/platform/db/start-error.ts server/platform/db/
# The links that PostgreSQL's libraries need; at run time the packages are read-only.
RUN node -e "import('./server/platform/db/embedded-binaries.ts').then((m) => m.linkLibraries(m.packagedPostgres())).then((made) => process.exit(made ? 0 : 1))"

FROM node:24-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATA_DIR=/data
WORKDIR /board
COPY --from=runtime /board/node_modules node_modules
COPY --from=build /board/dist dist
COPY package.json ./
COPY domain domain
COPY contract contract
COPY migrations migrations
# For the commands: the program itself is in dist.
COPY server server
RUN mkdir /data && chown node:node /data && chmod 700 /data
USER node
VOLUME /data
EXPOSE 3000
# Whether the process is well: who starts such containers anew must not do so because the database is away. Where the
# load balancer sends is for readyz to say.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# SIGTERM hands everything over within ten seconds: give it that long (docker stop -t 15).
STOPSIGNAL SIGTERM
CMD ["node", "--heap-growing-percent=100", "dist/server/main.js"]
