/** What `lastcall rollout --help` says. */

export const HELP: string = `Usage: lastcall rollout [options] [-- COMMAND...]

Restarts every copy of a service behind a router, one after the other, under open-loop load, and
says what was lost. Without a command it runs the orders service, whose rows each carry what they
must show. A command of yours is run without a shell, in its own process group; it takes its port
from {port} or PORT, and is judged strictly: any loss that is the service's is a finding.

What is run
  --scenario NAME       kill-retries, kill, stop-retries, stop, drain-short, drain (default: drain)
  --all                 all of them, or those that say something about your command
  --repeat N            restarts of each copy, one copy after the other (1)
  --build NAME          of the orders service: naive, bare, lastcall (each row has its own)
  --drain-delay TIME    each row has its own; handed on as {drainDelay} and LASTCALL_DRAIN_DELAY
  --grace TIME          SIGKILL after this (30s); handed on as LASTCALL_GRACE_PERIOD

The router
  --router NAME         nginx, haproxy, caddy or embedded (nginx if it is found; LASTCALL_NGINX,
                        LASTCALL_HAPROXY and LASTCALL_CADDY name the program to use)
  --warm-up TIME        a new copy that is ready waits so long before the router lists it (0)
  --propagation TIME    from the stop signal until the router has dropped the copy (1s)
  --order ORDER         parallel: signal and removal start together;
                        remove-first: the router drops the copy, then the signal is sent
  --retries             the router tries the next copy, by nginx's default rule
  --retry-posts         and a POST that was sent too: what was executed may be executed again
  --upstream-keepalive  pooled connections to the copies
  --client-keepalive    pooled connections from the clients
  --removal WHO         control-plane: the lab tells the router, after the lag (the default);
                        readiness: the router asks the copies itself (not nginx)
  --health-interval TIME  between two of these questions (500ms)
  --health-fall N, --health-rise N  so many answers in a row take a copy out (2; caddy 1), or in (1)
  --pooled-at-removal HOW  closed-when-idle, as HTTP proxies do; pinned or cut, as balancers of
                        layer 4 do (haproxy in TCP mode, embedded)
  --max-fails N         failures of live requests that keep a copy out (nginx, caddy; haproxy
                        with --removal readiness)
  --fail-timeout TIME   for so long (10s)

The load
  --rate N              requests per second (20)
  --arrivals HOW        constant, poisson, or steps of a rate and a time: 20:5s,200:2s (constant)
  --load FILE           a mix of requests as data: uploads, event streams, WebSockets, HTTP/2
  --protocol NAME       http/1.1 or h2, HTTP/2 without TLS (http/1.1)
  --engine NAME         raw: the lab's own client; node or undici: as programs use them (raw)
  --load-workers N      threads that send (1)
  --copies N            2 to 16 (2)
  --seed N              of the mix of requests
  --attempts N          run a row again that is invalid because the machine was too busy
                        (the orders service: 3, your command: 1)

Your service
  --ready PATH          readiness (/ready)
  --live PATH           liveness, asked while a copy drains; not asked by default
  --get PATH            may hold {id} (/)
  --post PATH           may hold {id}; none by default
  --post-body JSON      may hold {id} ({"id":"{id}"})
  --executed FILE       where your service appends each id that it has executed, one a line
  --witness WHO         what came to each copy, seen there: import (Node: code of the lab in it),
                        shim (any language: a recorder in front of it), FILE (as --executed), none
  --ready-timeout TIME  (15s)

Your service in Docker Compose, instead of a command
  --platform compose    the copies are the service of a compose file, each in a project of its own,
                        stopped by Compose with the file's stop_signal, stop_grace_period and init
  --compose-file FILE   (compose.yaml)
  --service NAME        which of its services, if there are several
  --container-port N    where it serves, if it publishes several ports or none

Your service in Docker Swarm, instead of a command
  --platform swarm      it runs already, behind a router of yours; Swarm updates it, the lab sends the
                        load and follows the engine's events
  --service NAME        as docker service ls tells it
  --url http://HOST:PORT  the router
  --drain-node NODE     drain this node instead of updating every task; it is made active again
  --engines A,B         DOCKER_HOST of the other nodes: an engine tells only of its own containers

What is made of it
  --explain             when something went wrong: again, with one factor changed at a time, to say
                        with which of them the failures vanish
  --controls            again with a hard kill and with no drain delay; both must show losses, or
                        the lab calls itself blind (exit code 4)
  --platform NAME       the lines to change, in the words of kubernetes, compose, systemd, pm2 or plain

Output
  --out FOLDER          ledger, logs and stores of the run (.lastcall/runs/<time>-<scenario>)
  --html FILE           the report of the run as a page; it is also written to its folder
  --json                the rows and their verdicts on standard output
  --no-color            as NO_COLOR
  --help

lastcall.config.json may hold the same under "rollout", by the same names, and the command as
"command". Flags win.

Exit codes: 0 every row shows what it must, 1 findings, 2 wrong usage, 3 could not run,
4 invalid run, 130 interrupted.

Examples
  lastcall rollout --all
  lastcall rollout --router nginx --repeat 20 --upstream-keepalive --client-keepalive
  lastcall rollout --get /items/{id} --post /items --executed done.txt -- node app.js --port {port}
`;
