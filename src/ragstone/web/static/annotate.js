"use strict";
/* The labelling screen. Without it the page is a plain form; what is forbidden comes from the server, which checks again. */
import { Outbox } from "./annotate_outbox.js";
import { Away, get, isOut, post, wordsOf } from "./annotate_server.js";
import { el, Sheet } from "./annotate_sheet.js";
import { Store } from "./annotate_store.js";
import { finder, foldAll, folds, selection, stepSelection, unfold } from "./annotate_texts.js";

const $ = (s, o = document) => o.querySelector(s), $$ = (s, o = document) => [...o.querySelectorAll(s)];
const desk = $("#desk"), { queue, person, path } = desk.dataset, store = new Store(queue, person);
const heard = el("p", "sr");
heard.setAttribute("role", "status");
desk.prepend(heard);

let item, form, sheet, busy, polling;
const AWAY = "The server cannot be reached. Nothing is lost: try again in a moment.";
const complain = (words, looks = "bad") => { if (sheet) sheet.tell([[looks, words]]); else outbox.tell(words); };

/* ---------- an item is shown ---------- */
function begin({ tried = false, first = false } = {}) {
  item = $("#item"); form = $("#sheet"); sheet = null;
  free();
  clearTimeout(polling);
  const { saved, all } = item.dataset, bar = $("#progress progress");
  bar.max = +all || 1; bar.value = +saved;
  $("#progress .count").replaceChildren(el("b", "", (+saved).toLocaleString("en")), ` of ${(+all).toLocaleString("en")}`);
  if (!form) {
    if ("again" in item.dataset) polling = setTimeout(look, 20e3);
    if (!first) $("h1", item).focus();
    return;
  }
  const faults = $("#faults", form).innerHTML;
  sheet = new Sheet(item, form, keepDraft);
  $(".hint", form).hidden = false;
  folds(item);
  finder(item, async where => { for (let rest; (rest = $("a.more", where)) && await more(rest);); });
  sheet.refresh();
  if (tried) { keepDraft(); if (!$("#faults p", form)) $("#faults", form).innerHTML = faults; } else restore();
  sheet.start();
  scrollTo(0, 0);
  if (!first) $("h1", item).focus({ preventScroll: true });
}
function swap(html, how) {
  const made = document.createElement("template");
  made.innerHTML = html;
  const next = $("#item", made.content);
  if (next) { item.replaceWith(next); begin(how); }
  return Boolean(next);
}
function hold() { busy = true; setTimeout(() => { if (busy) item.classList.add("waits"); }, 200); }
function free() { busy = false; item.classList.remove("waits"); }

/* ---------- drafts ---------- */
function keepDraft() {
  store.keepDraft(item.dataset.item, { seen: item.dataset.seen, said: sheet.said.toString() });
  if (!store.works) $("#saved").textContent = "this browser keeps no drafts";
}
function restore() {
  const draft = store.draft(item.dataset.item), before = sheet.said.toString();
  if (!draft || draft.said === before) return;
  const box = $("#restored", form), at = new Date(draft.at).toTimeString().slice(0, 5);
  const link = (words, said, then) => {
    const made = el("button", "undo", words);
    made.type = "button";
    made.addEventListener("click", () => { box.hidden = true; sheet.put(said); then(); sheet.turnTo(sheet.open[0] || sheet.labels[0]); });
    return made;
  };
  const drop = link("drop it", before, () => store.dropDraft(item.dataset.item));
  if (draft.seen === item.dataset.seen) { sheet.put(draft.said); box.append(`Restored from this browser, ${at} · `, drop); }
  else box.append(`A draft of ${at} is in this browser, from before you saved · `, link("use it", draft.said, keepDraft), " · ", drop);
  box.hidden = false;
}

/* ---------- to the server, and on ---------- */
const outbox = new Outbox(store, path, $("#waiting"), {
  done(entry, html, more) {
    store.dropDraft(entry.item, entry.at);
    savedWhen = Date.now(); ago(); heard.textContent = ""; heard.textContent = "Saved.";
    if (!more && swap(html)) at(path);
  },
  wrong(entry, html) { if (swap(html, { tried: true })) at(entry.path); },
  refused(entry, words) { free(); complain(entry.item === item.dataset.item ? `Not saved: ${words}` : `Item ${entry.item} is not saved: ${words}`); },
  free,
});
const at = address => { if (location.pathname !== address) history.replaceState(null, "", address); };

function save(action) {
  const once = [...crypto.getRandomValues(new Uint8Array(12))].map(n => n.toString(16).padStart(2, "0")).join(""), body = sheet.said;
  if (sheet.asked || form.elements.keep) body.set("keep", "1");
  for (const [name, value] of Object.entries({ action, once, person, seen: item.dataset.seen })) body.set(name, value);
  hold();
  outbox.put({ once, item: item.dataset.item, path: form.getAttribute("action"), body: body.toString(), at: Date.now() });
}
async function turn(action) {
  hold();
  try {
    const { status, html } = await post(form?.getAttribute("action") || path, { action, person }, path);
    if (status === 200 && swap(html)) { at(path); return; }
    free();
    if (isOut(status)) outbox.out(); else complain(wordsOf(html));
  } catch (error) {
    free();
    if (!(error instanceof Away)) throw error;
    complain(AWAY);
  }
}
async function load(address, push = false) {
  try {
    const { status, html } = await get(address, "item");
    if (status === 200 && swap(html)) { if (push) history.pushState(null, "", address); } else location.assign(address);
  } catch { complain(AWAY); }
}
/* Whether there is something to label again. */
async function look() {
  const found = await get(path, "item").catch(() => null);
  if (!(found?.status === 200 && found.html.includes('id="sheet"') && swap(found.html))) polling = setTimeout(look, 20e3);
}
async function more(link) {
  const found = await get(link.getAttribute("href"), "more").catch(() => null);
  if (found?.status !== 200) { complain(AWAY); return false; }
  const made = document.createElement("template");
  made.innerHTML = found.html;
  link.replaceWith(made.content);
  sheet?.showSpans();
  return true;
}

let savedWhen = 0;
const ago = () => { const s = Math.round((Date.now() - savedWhen) / 1e3); if (savedWhen) $("#saved").textContent = s < 2 ? "saved now" : s < 60 ? `saved ${s} s ago` : `saved ${Math.floor(s / 60)} min ago`; };
setInterval(ago, 1e3);

/* ---------- what a person does ---------- */
function act(action) {
  if (busy) { if (outbox.isWaiting) outbox.flush(); return; }
  if (action === "undo" || action === "skip") turn(action);
  else if (action === "discard") {
    const chosen = form.elements.why.value;
    if (chosen && chosen !== "other" || form.elements.own_why.value.trim()) save(action);
    else complain("Say why nothing can be said of it.", "note");
  } else if (sheet.isReady) save(action);
}
function discard() {
  const box = $("#discard", form);
  box.open = !box.open;
  if (box.open) { box.scrollIntoView({ block: "nearest" }); ($("input:checked", box) || $("input", box)).focus(); } else sheet.now.focus({ preventScroll: true });
}
function pick() {
  const all = $$(".texts [data-text]", item), at = all.indexOf(document.activeElement), shown = all.findIndex(one => one.getBoundingClientRect().bottom > 72);
  const next = all[at < 0 ? Math.max(0, shown) : (at + 1) % all.length];
  if (!next) return;
  unfold(next.closest(".ctx"));
  next.focus();
  stepSelection(next, "ArrowRight", false);
}

/* ---------- guideline and own items ---------- */
const guide = $("#guideline");
function guideline(show = guide?.hidden) {
  if (!guide) return;
  const inside = guide.contains(document.activeElement);
  guide.hidden = !show;
  try { localStorage.setItem("ragstone guideline", show ? "open" : ""); } catch { /* it opens closed, then */ }
  if (show) guide.focus({ preventScroll: innerWidth > 900 }); else if (inside) (sheet?.now || $("h1", item)).focus({ preventScroll: true });
}
const dialog = $("#items");
async function items() {
  const found = await get(path, "items").catch(() => null);
  if (found?.status !== 200) { if (isOut(found?.status)) outbox.out(); else complain(AWAY); return; }
  dialog.innerHTML = found.html;
  const box = $("#jump", dialog), rows = $$("li", dialog), number = row => $(".n", row).textContent;
  rows.forEach(row => { if (number(row) === item.dataset.item) $("a", row).setAttribute("aria-current", "true"); });
  dialog.showModal();
  if (!box) return;
  box.hidden = false;
  box.focus();
  const wanted = () => box.value.trim().toLowerCase();
  const fits = row => /^\d+$/.test(wanted()) ? number(row).startsWith(wanted()) : row.textContent.toLowerCase().includes(wanted());
  box.addEventListener("input", () => rows.forEach(row => { row.hidden = !fits(row); }));
  box.addEventListener("keydown", e => {
    const row = e.key === "Enter" && (rows.find(one => number(one) === wanted()) || rows.find(one => !one.hidden));
    if (row) { e.preventDefault(); $("a", row).click(); }
  });
}
dialog.addEventListener("click", e => {
  const link = e.target.closest("a[data-goto]");
  if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  dialog.close();
  load(link.getAttribute("href"), true);
});
addEventListener("popstate", () => load(location.pathname));

/* ---------- pointer and fields ---------- */
let pointer = false;
addEventListener("pointerdown", () => { pointer = true; }, true);
addEventListener("keydown", () => { pointer = false; }, true);
desk.addEventListener("change", e => {
  const label = e.target.closest(".lab");
  if (!label) return;
  sheet.turnTo(label, { quietly: true });
  sheet.touched();
  if (pointer && !sheet.cycles) sheet.turnTo(sheet.after(label), { quietly: true });
});
desk.addEventListener("input", e => {
  if (e.target.form !== form || e.target.type === "radio") return;
  if (e.target.name === "own_why") form.elements.why.value = "other"; else sheet.touched();
});
desk.addEventListener("focusin", e => { const label = e.target.closest(".lab"); if (label && label !== sheet.now) sheet.turnTo(label, { quietly: true }); });
desk.addEventListener("submit", e => {
  const action = e.submitter?.value || "save";
  if (e.target !== form && action !== "undo") return;
  e.preventDefault();
  act(action);
});
desk.addEventListener("click", e => {
  const on = where => e.target.closest(where);
  const handled = on("a.more, [data-guideline], [data-items]");
  if (handled) { e.preventDefault(); if (handled.matches("a.more")) more(handled); else if (handled.matches("[data-items]")) items(); else guideline(); }
  else if (on("#evidence")) sheet.attach(picked);
  else if (on(".gist")) sheet.turnTo(sheet.first(on(".part")));
  else if (on(".lab") && on(".lab") !== sheet.now) sheet.turnTo(on(".lab"), { quietly: true });
  if (pointer) on("button")?.blur();
});
// A press on the button must not take the selection away; where it does, on a phone, it was there a moment ago.
let picked = null, fading;
desk.addEventListener("mousedown", e => { if (e.target.closest("#evidence")) e.preventDefault(); });
document.addEventListener("selectionchange", () => {
  if (!sheet) return;
  const button = $("#evidence", form), range = selection(item);
  clearTimeout(fading);
  if (range) { picked = range; button.hidden = false; $(".quiet", button).textContent = `for “${sheet.now.dataset.title}”`; }
  else fading = setTimeout(() => { picked = null; button.hidden = true; }, 300);
});

/* ---------- keys ---------- */
function escape() {
  if (form && $("#discard[open]", form)) discard();
  else if (guide?.contains(document.activeElement)) guideline(false);
  else if (sheet && document.activeElement.closest(".texts [data-text], .finder, #sheet")) { getSelection().removeAllRanges(); sheet.now.focus({ preventScroll: true }); }
}
function typed(e) {
  if (e.key !== "Enter" || e.shiftKey || e.target.form !== form || !e.target.closest("#sheet")) return;
  e.preventDefault();
  const label = e.target.closest(".lab");
  if (e.target.closest("#discard")) act("discard"); else if (label && sheet.after(label) !== label) sheet.turnTo(sheet.after(label)); else act("save");
}
function digit(e) {
  const choice = $(`#discard[open] [data-digit="${e.key}"] input`, form);
  if (!$("#discard[open]", form)) sheet.digit(e.key);
  else if (choice) { choice.checked = true; (choice.value === "other" ? form.elements.own_why : choice).focus(); }
}
function arrow(e) {
  const up = e.key === "ArrowUp", down = e.key === "ArrowDown", text = e.target.closest(".texts [data-text]"), lab = e.target.closest(".lab");
  if (text) stepSelection(text, e.key, e.shiftKey);
  else if (lab && (up || down) && (e.target === lab || !lab.matches(".stacked"))) sheet.beside(down ? 1 : -1);
  else if (lab && e.target === lab) sheet.sideways(e.key === "ArrowRight" ? 1 : -1);
  else return;
  e.preventDefault();
}
document.addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing || $("dialog[open]")) return;
  if (e.key === "Escape") { escape(); return; }
  if (e.target.matches("input:not([type=radio], [type=checkbox]), textarea, select")) { typed(e); return; }
  if (e.key === "Enter" && e.target.closest("a, summary, button:not(#save)")) return;
  if (e.repeat && !e.key.startsWith("Arrow")) { if (e.key === "Enter") e.preventDefault(); return; }
  if (sheet && e.key.startsWith("Arrow")) { arrow(e); return; }
  if (sheet && /^\d$/.test(e.key)) { e.preventDefault(); if (!busy) digit(e); return; }
  const keys = {
    z: () => act("undo"), i: items, g: () => guideline(),
    ...(sheet ? {
      Enter: () => act($("#discard[open]", form) ? "discard" : "save"), s: () => act("skip"), d: discard, t: () => form.elements.note.focus(),
      j: () => sheet.move(1), k: () => sheet.move(-1), Backspace: () => sheet.beside(-1), o: () => foldAll(item), e: () => sheet.attach(selection(item)), w: pick,
    } : { Enter: () => load(path) }),
  };
  if (Object.hasOwn(keys, e.key)) { e.preventDefault(); keys[e.key](); }
});

/* ---------- other windows, and the way back ---------- */
addEventListener("storage", e => {
  if (sheet && !busy && e.newValue === null && store.isDraft(e.key, item.dataset.item)) complain("This item was saved in another window. Save it here only if you want to change it.", "note");
});
addEventListener("online", () => { if (outbox.count) outbox.flush(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden && outbox.count) outbox.flush(); });
addEventListener("beforeunload", e => { if (outbox.unkept) e.preventDefault(); });

// An item is held for a while: who is still at it keeps it.
let active = Date.now();
for (const what of ["keydown", "pointermove", "scroll"]) addEventListener(what, () => { active = Date.now(); }, { passive: true });
setInterval(() => { if (sheet && !busy && Date.now() - active < 240e3) post(form.getAttribute("action"), { action: "hold", person }, path).catch(() => {}); }, 240e3);

try { if (guide?.hidden && localStorage.getItem("ragstone guideline") && innerWidth > 900) guide.hidden = false; } catch { /* it stays closed */ }
begin({ first: true });
if (outbox.count) { hold(); outbox.flush(); }
