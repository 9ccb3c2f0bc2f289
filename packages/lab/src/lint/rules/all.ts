/** Every rule, in the order of the documentation. To add one: its file, its page, its two fixtures, one line here. */

import type { Rule } from "../finding.ts";
import { defaultGrace } from "./budget/default-grace.ts";
import { doubleDrain } from "./budget/double-drain.ts";
import { exceedsGrace } from "./budget/exceeds-grace.ts";
import { forceExitTooLate } from "./budget/force-exit-too-late.ts";
import { innerSupervisor } from "./budget/inner-supervisor.ts";
import { platformCap } from "./budget/platform-cap.ts";
import { prestopEatsGrace } from "./budget/prestop-eats-grace.ts";
import { requestOutlivesGraceful } from "./budget/request-outlives-graceful.ts";
import { routerSlowerThanDrain } from "./budget/router-slower-than-drain.ts";
import { thinMargin } from "./budget/thin-margin.ts";
import { unboundedShutdown } from "./budget/unbounded-shutdown.ts";
import { cmdIgnored } from "./docker/cmd-ignored.ts";
import { cmdNotJson } from "./docker/cmd-not-json.ts";
import { devRunner } from "./docker/dev-runner.ts";
import { entrypointScriptNoExec } from "./docker/entrypoint-script-no-exec.ts";
import { execFormOneString } from "./docker/exec-form-one-string.ts";
import { initChildIsShell } from "./docker/init-child-is-shell.ts";
import { multiProcess } from "./docker/multi-process.ts";
import { noSignalHandler } from "./docker/no-signal-handler.ts";
import { packageManagerPid1 } from "./docker/package-manager-pid1.ts";
import { shellForm } from "./docker/shell-form.ts";
import { shellWrapperNoExec } from "./docker/shell-wrapper-no-exec.ts";
import { stopsignalKill } from "./docker/stopsignal-kill.ts";
import { stopsignalMismatch } from "./docker/stopsignal-mismatch.ts";
import { commandDropsInit } from "./k8s/command-drops-init.ts";
import { graceExcessive } from "./k8s/grace-excessive.ts";
import { graceShort } from "./k8s/grace-short.ts";
import { graceZero } from "./k8s/grace-zero.ts";
import { noPredrain } from "./k8s/no-predrain.ts";
import { prestopArgv } from "./k8s/prestop-argv.ts";
import { prestopAsync } from "./k8s/prestop-async.ts";
import { prestopNeedsBinary } from "./k8s/prestop-needs-binary.ts";
import { prestopSleepInvalid } from "./k8s/prestop-sleep-invalid.ts";
import { probeGrace } from "./k8s/probe-grace.ts";
import { sidecarInContainers } from "./k8s/sidecar-in-containers.ts";
import { sidecarStarved } from "./k8s/sidecar-starved.ts";
import { stopSignalGate } from "./k8s/stop-signal-gate.ts";
import { durationUnit } from "./compose/duration-unit.ts";
import { entrypointDropsInit } from "./compose/entrypoint-drops-init.ts";
import { preStopNotGuaranteed } from "./compose/pre-stop-not-guaranteed.ts";
import { stopOrder } from "./compose/stop-order.ts";
import { pm2Signal } from "./pkg/pm2-signal.ts";
import { startScriptChain } from "./pkg/start-script-chain.ts";
import { imageHealthcheckOnly } from "./probe/image-healthcheck-only.ts";
import { livenessSameAsReadiness } from "./probe/liveness-same-as-readiness.ts";
import { readinessMissing } from "./probe/readiness-missing.ts";
import { readinessTcpInDrain } from "./probe/readiness-tcp-in-drain.ts";
import { checksLiveness } from "./router/checks-liveness.ts";
import { deregistrationTooLong } from "./router/deregistration-too-long.ts";
import { deregistrationTooShort } from "./router/deregistration-too-short.ts";
import { etpLocalFailsReadiness } from "./router/etp-local-fails-readiness.ts";
import { etpLocalNoPredrain } from "./router/etp-local-no-predrain.ts";
import { externalLbNeedsPredrain } from "./router/external-lb-needs-predrain.ts";
import { istioDrain } from "./router/istio-drain.ts";
import { keepaliveShorterThanProxy } from "./router/keepalive-shorter-than-proxy.ts";
import { publishNotReady } from "./router/publish-not-ready.ts";
import { keepaliveNeedsHttp11 } from "./nginx/keepalive-needs-http11.ts";
import { maxFailsZero } from "./nginx/max-fails-zero.ts";
import { nextUpstreamNo503 } from "./nginx/next-upstream-no-503.ts";
import { nextUpstreamOff } from "./nginx/next-upstream-off.ts";
import { noWorkerShutdownTimeout } from "./nginx/no-worker-shutdown-timeout.ts";
import { nonIdempotentRetry } from "./nginx/non-idempotent-retry.ts";
import { singleServerUpstream } from "./nginx/single-server-upstream.ts";
import { staticUpstreamDns } from "./nginx/static-upstream-dns.ts";
import { unbufferedBlocksRetry } from "./nginx/unbuffered-blocks-retry.ts";
import { l4CheckOnly } from "./haproxy/l4-check-only.ts";
import { msUnit } from "./haproxy/ms-unit.ts";
import { noCheck } from "./haproxy/no-check.ts";
import { noHardStopAfter } from "./haproxy/no-hard-stop-after.ts";
import { noRedispatch } from "./haproxy/no-redispatch.ts";
import { execStopAsync } from "./systemd/exec-stop-async.ts";
import { fastStopSignal } from "./systemd/fast-stop-signal.ts";
import { killMode } from "./systemd/kill-mode.ts";
import { noSigkill } from "./systemd/no-sigkill.ts";
import { successExit143 } from "./systemd/success-exit-143.ts";
import { timeoutInfinity } from "./systemd/timeout-infinity.ts";
import { hostportSurge } from "./rollout/hostport-surge.ts";
import { maxUnavailableAll } from "./rollout/max-unavailable-all.ts";
import { minReadyZero } from "./rollout/min-ready-zero.ts";
import { pdbBlocks } from "./rollout/pdb-blocks.ts";
import { pdbMissing } from "./rollout/pdb-missing.ts";
import { recreate } from "./rollout/recreate.ts";
import { singleReplica } from "./rollout/single-replica.ts";
import { swarmStopFirst } from "./rollout/swarm-stop-first.ts";
import { broken } from "./file/broken.ts";
import { notRecognised } from "./file/not-recognised.ts";
import { template } from "./file/template.ts";
import { tooLarge } from "./file/too-large.ts";
import { unreadable } from "./file/unreadable.ts";
import { config } from "./lint/config.ts";
import { suppressionReason } from "./lint/suppression-reason.ts";
import { unusedSuppression } from "./lint/unused-suppression.ts";

export const RULES: readonly Rule[] = [
  defaultGrace,
  doubleDrain,
  exceedsGrace,
  forceExitTooLate,
  innerSupervisor,
  platformCap,
  prestopEatsGrace,
  requestOutlivesGraceful,
  routerSlowerThanDrain,
  thinMargin,
  unboundedShutdown,
  cmdIgnored,
  cmdNotJson,
  devRunner,
  entrypointScriptNoExec,
  execFormOneString,
  initChildIsShell,
  multiProcess,
  noSignalHandler,
  packageManagerPid1,
  shellForm,
  shellWrapperNoExec,
  stopsignalKill,
  stopsignalMismatch,
  commandDropsInit,
  graceExcessive,
  graceShort,
  graceZero,
  noPredrain,
  prestopArgv,
  prestopAsync,
  prestopNeedsBinary,
  prestopSleepInvalid,
  probeGrace,
  sidecarInContainers,
  sidecarStarved,
  stopSignalGate,
  durationUnit,
  entrypointDropsInit,
  preStopNotGuaranteed,
  stopOrder,
  pm2Signal,
  startScriptChain,
  imageHealthcheckOnly,
  livenessSameAsReadiness,
  readinessMissing,
  readinessTcpInDrain,
  checksLiveness,
  deregistrationTooLong,
  deregistrationTooShort,
  etpLocalFailsReadiness,
  etpLocalNoPredrain,
  externalLbNeedsPredrain,
  istioDrain,
  keepaliveShorterThanProxy,
  publishNotReady,
  keepaliveNeedsHttp11,
  maxFailsZero,
  nextUpstreamNo503,
  nextUpstreamOff,
  noWorkerShutdownTimeout,
  nonIdempotentRetry,
  singleServerUpstream,
  staticUpstreamDns,
  unbufferedBlocksRetry,
  l4CheckOnly,
  msUnit,
  noCheck,
  noHardStopAfter,
  noRedispatch,
  execStopAsync,
  fastStopSignal,
  killMode,
  noSigkill,
  successExit143,
  timeoutInfinity,
  hostportSurge,
  maxUnavailableAll,
  minReadyZero,
  pdbBlocks,
  pdbMissing,
  recreate,
  singleReplica,
  swarmStopFirst,
  broken,
  notRecognised,
  template,
  tooLarge,
  unreadable,
  config,
  suppressionReason,
  unusedSuppression,
];
