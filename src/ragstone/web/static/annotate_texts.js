"use strict";
/* Places in the texts, counted in characters as the server counts them; words that are marked or looked for; folds. */

const $$ = (s, o = document) => [...o.querySelectorAll(s)];
const texts = root => $$("[data-text]", root);

/* The text nodes of a text, without the link to its rest. */
function* nodes(text) {
  const walk = document.createTreeWalker(text, NodeFilter.SHOW_TEXT, n => n.parentElement.closest("a.more") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  while (walk.nextNode()) yield walk.currentNode;
}
const characters = string => { let n = 0; for (const _ of string) n++; return n; };
const units = (string, n) => { let at = 0; for (const one of string) { if (!n--) break; at += one.length; } return at; };

/* How many characters of a text stand before a point of the page; the link to its rest is at its end. */
function before(text, node, offset) {
  const range = document.createRange();
  range.setStart(text, 0); range.setEnd(node, offset);
  return characters(range.toString());
}

export function rangeOf(text, start, end) {
  const range = document.createRange();
  let count = 0, begun = false;
  for (const one of nodes(text)) {
    const size = characters(one.data);
    if (!begun && start < count + size) { range.setStart(one, units(one.data, start - count)); begun = true; }
    if (begun && end <= count + size) { range.setEnd(one, units(one.data, end - count)); return range; }
    count += size;
  }
  return null;
}

/* What is selected of the texts; null if nothing is. */
export function selection(root) {
  const now = getSelection(), range = now.rangeCount && !now.isCollapsed ? now.getRangeAt(0) : null;
  return range && texts(root).some(one => range.intersectsNode(one)) ? range.cloneRange() : null;
}
/* Its words, in the text where it begins, without the white space around them. */
export function place(root, range) {
  const text = texts(root).find(one => range.intersectsNode(one));
  if (!text) return null;
  const all = [...[...nodes(text)].map(n => n.data).join("")];
  let start = text.contains(range.startContainer) ? before(text, range.startContainer, range.startOffset) : 0;
  let end = Math.min(all.length, text.contains(range.endContainer) ? before(text, range.endContainer, range.endOffset) : Infinity);
  while (start < end && !all[start].trim()) start++;
  while (end > start && !all[end - 1].trim()) end--;
  return start < end ? { text: text.dataset.text, start, end } : null;
}

export const wordsAt = (root, span) => {
  const text = texts(root).find(one => one.dataset.text === span.text);
  return text ? [...[...nodes(text)].map(n => n.data).join("")].slice(span.start, span.end).join("") : "";
};

/* Marks without a change of the page, in which places would move. */
const light = (name, ranges) => globalThis.CSS?.highlights?.set(name, new Highlight(...ranges));

export function mark(root, name, spans) {
  const ranges = spans.map(span => {
    const text = texts(root).find(one => one.dataset.text === span.text);
    return text && rangeOf(text, span.start, span.end);
  }).filter(Boolean);
  light(name, ranges);
}

/* Selects a word further on, or one more; for who has no mouse. */
export function stepSelection(text, key, more) {
  const now = getSelection(), forward = key === "ArrowRight" || key === "ArrowDown";
  const by = key === "ArrowLeft" || key === "ArrowRight" ? "word" : "line";
  if (!now.rangeCount || !text.contains(now.anchorNode)) {
    now.collapse(text, 0);
    if (!more) now.modify("extend", "forward", "word");
    return;
  }
  if (more) { now.modify("extend", forward ? "forward" : "backward", by); return; }
  if (forward) now.collapseToEnd(); else now.collapseToStart();
  now.modify("move", forward ? "forward" : "backward", by);
  now.modify("move", "backward", "word");
  now.modify("extend", "forward", "word");
  if (!text.contains(now.anchorNode) || !text.contains(now.focusNode)) { now.collapse(text, 0); now.modify("extend", "forward", "word"); }
}

/* Long contexts. */
let open = false;
const setFold = (ctx, folded) => {
  ctx.classList.toggle("folded", folded);
  const button = ctx.querySelector(".unfold");
  button.textContent = folded ? "Show all" : "Fold";
  button.setAttribute("aria-expanded", String(!folded));
};
export function folds(root) {
  for (const ctx of $$(".ctx[data-long]", root)) {
    const text = ctx.querySelector("[data-text]"), size = parseFloat(getComputedStyle(text).fontSize);
    if (text.scrollHeight < 22 * size) { delete ctx.dataset.long; continue; }
    const button = document.createElement("button");
    button.type = "button"; button.className = "btn bare unfold";
    button.addEventListener("click", () => setFold(ctx, !ctx.classList.contains("folded")));
    ctx.append(button);
    setFold(ctx, !open);
  }
}
export function foldAll(root) {
  const all = $$(".ctx[data-long]", root);
  open = all.some(one => one.classList.contains("folded"));
  all.forEach(one => setFold(one, !open));
}
export const unfold = ctx => { if (ctx?.classList.contains("folded")) setFold(ctx, false); };

/* Search. */
export function finder(root, fetchRest) {
  const box = root.querySelector(".finder");
  if (!box) return;
  box.hidden = false;
  const input = box.querySelector("input"), out = box.querySelector("output");
  let found = [], at = -1;
  const show = () => {
    out.textContent = !input.value.trim() ? "" : !found.length ? "not found" : `${at < 0 ? "" : `${at + 1} of `}${found.length}`;
    light("found", found.filter((_, n) => n !== at));
    light("here", found.slice(at, at < 0 ? 0 : at + 1));
  };
  const look = () => {
    const words = input.value.trim();
    found = []; at = -1;
    if (words) {
      const wanted = new RegExp(words.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&").replace(/\s+/g, "\\s+"), "giu");
      for (const ctx of $$(".contexts .ctx", root)) {
        const mine = [];
        for (const node of nodes(ctx.querySelector("[data-text]"))) for (const one of node.data.matchAll(wanted)) {
          const range = document.createRange();
          range.setStart(node, one.index); range.setEnd(node, one.index + one[0].length);
          mine.push(range);
          if (mine.length === 500) break;
        }
        if (mine.length) unfold(ctx);
        found.push(...mine);
      }
    }
    show();
  };
  let soon, whole = false;
  input.addEventListener("input", () => {
    clearTimeout(soon);
    soon = setTimeout(async () => {
      look();
      if (input.value.trim() && !whole) { whole = true; await fetchRest(root.querySelector(".contexts")); look(); }
    }, 80);
  });
  input.addEventListener("keydown", e => {
    if (e.key !== "Enter") return;
    e.preventDefault(); e.stopPropagation();
    if (at < 0) { clearTimeout(soon); look(); }
    if (!found.length) return;
    at = (at + (e.shiftKey ? found.length - 1 : 1)) % found.length;
    const place = found[at].getBoundingClientRect();
    if (place.top < 64 || place.bottom > innerHeight) scrollBy({ top: place.top - innerHeight / 3 });
    show();
  });
}
