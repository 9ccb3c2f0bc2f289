/** What an image's name alone tells: its shell, its stop signal, whether it has tools. What it does not tell stays unknown. */

import type { ShellName } from "../parse/handover.ts";

export interface ImageFacts {
  readonly reference: string;
  /** What `/bin/sh` is. */
  readonly shell: ShellName;
  /** Why we think so, for messages. */
  readonly shellFrom: string;
  /** Set by the official image; undefined where unknown. */
  readonly stopSignal: string | undefined;
  /** The last part of an official image's name (`nginx`), else undefined. */
  readonly official: string | undefined;
  /** Distroless and scratch: no shell, no `sleep`, no `curl`. */
  readonly minimal: boolean;
}

/** Other signals and other shells: nothing is claimed about these. */
export const WINDOWS: RegExp = /windows|nanoserver|servercore|dotnet\/framework/i;

const ASH = /(^|[-_.:/])(alpine|busybox)/i;
const DASH =
  /(^|[-_.:/\d])(ubuntu|debian|bookworm|bullseye|buster|trixie|jammy|noble|focal|slim)([-_.:@\d]|$)/i;
const BASH =
  /(^|[-_./:])(fedora|centos|rockylinux|almalinux|oraclelinux|amazonlinux|archlinux|opensuse|ubi[789](-minimal)?|rhel)/i;

/** Official images whose tags without a suffix are built on Debian or Ubuntu. */
const DEBIAN_BASED = new Set(
  (
    "debian ubuntu node python ruby golang rust php nginx httpd postgres mariadb redis valkey haproxy perl eclipse-temurin gcc buildpack-deps " +
    "elixir erlang swift tomcat maven gradle wordpress ghost drupal mongo rabbitmq memcached pypy julia r-base"
  ).split(" "),
);

export function imageFacts(reference: string): ImageFacts {
  const [path, digestless] = splitTag(reference);
  const name = path.replace(/^(docker\.io\/)?(library\/)?/, "");
  const official = name.includes("/") || name === "" ? undefined : name;
  const minimal =
    reference === "scratch" ||
    (/(^|\/)(distroless|cgr\.dev\/chainguard)(\/|$)/.test(path) && !/debug|-dev/.test(digestless)) ||
    (/distroless/.test(reference) && !/debug/.test(digestless));
  const [shell, shellFrom] = shellOf(reference, official, minimal);
  return { reference, shell, shellFrom, stopSignal: stopSignalOf(official, digestless), official, minimal };
}

/** Nothing is known: the image is missing or its name is computed. */
export const UNKNOWN_IMAGE: ImageFacts = {
  reference: "",
  shell: "unknown",
  shellFrom: "the image is not known",
  stopSignal: undefined,
  official: undefined,
  minimal: false,
};

function splitTag(reference: string): readonly [string, string] {
  const plain = reference.replace(/@sha256:.*$/, "");
  const colon = plain.indexOf(":", plain.lastIndexOf("/") + 1);
  return colon === -1 ? [plain, ""] : [plain.slice(0, colon), plain.slice(colon + 1)];
}

function shellOf(
  reference: string,
  official: string | undefined,
  minimal: boolean,
): readonly [ShellName, string] {
  if (WINDOWS.test(reference)) {
    return ["none", "Windows has no such shell"];
  }
  if (minimal) {
    return ["none", `${reference} has no shell`];
  }
  if (ASH.test(reference)) {
    return ["ash", `/bin/sh of ${reference} is busybox ash`];
  }
  if (DASH.test(reference) || (official !== undefined && DEBIAN_BASED.has(official))) {
    return ["dash", `/bin/sh of ${reference} is dash`];
  }
  if (
    /^(mcr\.microsoft\.com\/dotnet\/|bitnami\/|oven\/bun|denoland\/deno)/.test(
      reference.replace(/^docker\.io\//, ""),
    )
  ) {
    return ["dash", `/bin/sh of ${reference} is dash`];
  }
  if (official === "mysql" || official === "amazoncorretto" || BASH.test(reference)) {
    return ["bash", `/bin/sh of ${reference} is bash`];
  }
  return ["unknown", `the shell of ${reference} is not known`];
}

/** STOPSIGNAL as the official images set it (their Dockerfiles). */
function stopSignalOf(official: string | undefined, tag: string): string | undefined {
  switch (official) {
    case "nginx":
      return "SIGQUIT";
    case "php":
      return tag.includes("fpm") ? "SIGQUIT" : tag.includes("apache") ? "SIGWINCH" : undefined;
    case "httpd":
      return "SIGWINCH";
    case "postgres":
      return "SIGINT";
    case "haproxy":
      return "SIGUSR1";
    default:
      return undefined;
  }
}
