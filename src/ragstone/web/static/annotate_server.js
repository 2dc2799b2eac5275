"use strict";
/* Asks the server. Who gets no answer, or is told to wait, gets Away. */

export class Away extends Error {}
const meta = document.querySelector("meta[name=secret]"), SECONDS = 20;
const read = html => new DOMParser().parseFromString(html, "text/html");

async function ask(address, options) {
  let reply;
  const stop = new AbortController(), timer = setTimeout(() => stop.abort(), SECONDS * 1e3);
  try {
    reply = await fetch(address, { ...options, redirect: "manual", signal: stop.signal });
    if ([429, 502, 503, 504].includes(reply.status)) throw new Away();
    return { status: reply.status, html: await reply.text() };
  } catch { throw new Away(); } finally { clearTimeout(timer); }
}

/* A part of a page. */
export const get = (address, part) => ask(address, { headers: { "HX-Target": part } });

export async function post(address, body, home) {
  const send = () => ask(address, { method: "POST", body: new URLSearchParams(body), headers: { "X-secret": meta.content, "HX-Target": "item" } });
  const reply = await send();
  // A server that was started again has another secret, which its pages carry.
  return reply.status === 403 && await renewed(home) ? send() : reply;
}
async function renewed(home) {
  const { status, html } = await ask(home);
  const secret = status === 200 && read(html).querySelector("meta[name=secret]")?.content;
  const other = secret && secret !== meta.content;
  if (other) meta.content = secret;
  return other;
}

// An answer that leads elsewhere, which has no status here, is for who has no link any more.
export const isOut = status => [0, 401, 403].includes(status);

/* Why the server refused something, in its own words. */
export function wordsOf(html) {
  const lines = [...read(html).querySelectorAll("main p, main li")].map(one => one.textContent.trim()).filter(Boolean);
  return lines.join(" ") || "the server refused it.";
}
