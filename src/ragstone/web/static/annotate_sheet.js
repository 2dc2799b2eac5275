"use strict";
/* The sheet of labels: whose turn it is, what a digit says, which rules are broken, the words that a label rests on. */
import { mark, place, unfold, wordsAt } from "./annotate_texts.js";

const $ = (s, o = document) => o.querySelector(s), $$ = (s, o = document) => [...o.querySelectorAll(s)];
export const el = (tag, looks, words = "") => { const made = document.createElement(tag); made.className = looks; made.textContent = words; return made; };
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const NOT_SAID = ["secret", "person", "once", "seen", "keep", "action"];

export class Sheet {
  constructor(item, form, changed) {
    Object.assign(this, { item, form, changed, asked: false, now: null });
    this.labels = $$(".lab", form); this.parts = $$(".part", form);
    this.forbidden = JSON.parse(form.dataset.forbidden);
    this.spans = JSON.parse(form.elements.spans.value);
    this.cycles = form.dataset.mode === "cycle"; this.several = this.parts.length > 1;
    form.classList.toggle("keyed", this.several);
    this.labels.forEach(one => { one.tabIndex = -1; });
  }

  /* ---------- what is said ---------- */
  value(label) { return ($("input:checked", label) || $("input[type=text]", label))?.value.trim() || ""; }
  isOpen(label) { return "required" in label.dataset && !this.value(label); }
  part(label) { return label.closest(".part"); }
  of(part) { return this.labels.filter(one => this.part(one) === part); }
  get open() { return this.labels.filter(one => this.isOpen(one)); }
  get said() { return new URLSearchParams([...new FormData(this.form)].filter(([name]) => !NOT_SAID.includes(name))); }

  put(said) {
    const given = new URLSearchParams(said);
    for (const one of this.form.elements) {
      if (!one.name || NOT_SAID.includes(one.name)) continue;
      if (one.type === "radio") one.checked = given.get(one.name) === one.value; else one.value = given.get(one.name) || "";
    }
    this.spans = JSON.parse(this.form.elements.spans.value || "[]");
    this.refresh();
  }
  say(label, value) {
    for (const one of $$("input[type=radio]", label)) one.checked = one.value === value;
    this.touched();
  }
  touched() {
    this.asked = false;
    this.form.elements.keep?.remove();
    this.form.elements.spans.value = JSON.stringify(this.spans);
    this.refresh();
    this.changed();
  }
  refresh() { this.gists(); this.check(); this.showSpans(); }

  /* ---------- whose turn it is ---------- */
  turnTo(label, { quietly = false } = {}) {
    if (!label) return;
    this.now = label;
    const here = this.part(label);
    this.labels.forEach(one => one.classList.toggle("now", one === label));
    this.parts.forEach(one => one.classList.toggle("here", one === here));
    if (this.several) {
      this.gists();
      $$(".ctx", this.item).forEach(one => one.classList.toggle("here", one.dataset.part === here.dataset.at));
      if (!quietly) this.near($(".ctx.here", this.item));
    }
    label.scrollIntoView({ block: "nearest" });
    if (!quietly) ($("input[type=text]", label) || label).focus({ preventScroll: true });
  }
  near(text) {
    if (!text) return;
    const { top, bottom } = text.getBoundingClientRect();
    if (top < 56 || bottom > innerHeight) text.scrollIntoView({ block: bottom - top < innerHeight - 64 ? "nearest" : "start" });
  }
  first(part) { return this.of(part).find(one => this.isOpen(one)) || this.of(part)[0]; }
  start() { this.turnTo(this.open[0] || this.labels[0], { quietly: true }); }
  beside(by) { this.turnTo(this.labels[this.labels.indexOf(this.now) + by]); }
  move(by) { if (this.several) { const next = this.parts[this.parts.indexOf(this.part(this.now)) + by]; if (next) this.turnTo(this.first(next)); } else this.beside(by); }
  /* The next that nothing is said of, from here on or from the start; this one if there is none. */
  after(label) { const at = this.labels.indexOf(label); return [...this.labels.slice(at), ...this.labels.slice(0, at)].find(one => this.isOpen(one)) || label; }

  digit(key) {
    if (this.cycles) {
      const label = this.labels[key - 1];
      if (!label) return;
      const values = $$("input", label).map(one => one.value);
      if (!("required" in label.dataset)) values.push("");
      this.turnTo(label);
      this.say(label, values[(values.indexOf(this.value(label)) + 1) % values.length]);
      return;
    }
    const label = this.now, choice = label && $(`[data-digit="${key}"] input`, label);
    if (!choice) return;
    this.say(label, choice.value);
    this.turnTo(this.after(label));
  }
  sideways(by) {
    const all = $$("input[type=radio]", this.now), at = all.findIndex(one => one.checked);
    const next = all[at < 0 ? 0 : at + by];
    if (next) this.say(this.now, next.value);
  }
  gists() {
    if (!this.several) return;
    for (const part of this.parts) {
      const mine = this.of(part), gist = $(".gist", part), left = mine.filter(one => this.isOpen(one)).length;
      gist.hidden = false;
      gist.classList.toggle("open", left > 0);
      gist.textContent = left === mine.length ? "–" : left ? `${mine.length - left} of ${mine.length}` : mine.map(one => this.value(one)).filter(Boolean).join(", ");
      gist.setAttribute("aria-label", `${part.dataset.title}: ${left ? `${left} open` : gist.textContent}`);
      gist.setAttribute("aria-expanded", String(part.classList.contains("here")));
    }
  }

  /* ---------- rules ---------- */
  get broken() {
    return this.parts.flatMap(part => {
      const mine = this.of(part), said = new Map(mine.map(one => [one.dataset.label, this.value(one)]));
      return this.forbidden
        .filter(rule => rule.unit === part.dataset.unit && Object.entries(rule.said).every(([label, value]) => said.get(label) === value))
        .map(rule => ({ blocks: rule.blocks, labels: mine.filter(one => one.dataset.label in rule.said), words: this.several ? `${part.dataset.title}: ${rule.words}` : rule.words }));
    });
  }
  check() {
    const wrong = this.broken, hard = wrong.filter(one => one.blocks);
    this.labels.forEach(one => one.classList.toggle("odd", hard.some(({ labels }) => labels.includes(one))));
    this.shut(hard.length > 0);
    this.tell(wrong.map(({ blocks, words }) => [blocks ? "bad" : "note", words]));
  }
  shut(is) {
    const save = $("#save", this.form);
    save.disabled = is;
    $("span", save).textContent = this.asked ? "Save all the same" : "Save and next";
  }
  tell(lines) {
    const box = $("#faults", this.form), old = [...box.children].map(one => [one.className, one.textContent]);
    if (!same(old, lines)) box.replaceChildren(...lines.map(([looks, words]) => el("p", looks, words)));
  }
  /* Whether it can be saved; what is in the way is said, and has its turn. */
  get isReady() {
    const left = this.open, wrong = this.broken, hard = wrong.find(one => one.blocks);
    if (hard) { this.check(); this.turnTo(hard.labels[0]); return false; }
    if (left.length) {
      const names = left.slice(0, 4).map(one => this.several ? `${this.part(one).dataset.title}, ${one.dataset.title}` : one.dataset.title);
      this.tell([["note", `Still to answer: ${names.join("; ")}${left.length > 4 ? ` and ${left.length - 4} more` : ""}.`]]);
      this.turnTo(left[0]);
      return false;
    }
    if (wrong.length && !this.asked && !this.form.elements.keep) { this.asked = true; this.check(); return false; }
    return true;
  }

  /* ---------- the words that a label rests on ---------- */
  span({ text, start, end }) { const { unit, name } = this.part(this.now).dataset; return { part: [unit, name], label: this.now.dataset.label, text, start, end }; }
  attach(range) {
    const found = range && place(this.item, range);
    if (!found) return;
    const span = this.span(found);
    if (!this.spans.some(one => same(one, span))) this.spans.push(span);
    getSelection().removeAllRanges();
    this.touched();
    this.turnTo(this.now);
  }
  showSpans() {
    for (const label of this.labels) {
      const { unit, name } = this.part(label).dataset;
      const mine = this.spans.filter(one => one.label === label.dataset.label && same(one.part, [unit, name]));
      $(".spans", label).replaceChildren(...mine.map(one => this.chip(label, one)));
    }
    mark(this.item, "evidence", this.spans);
  }
  chip(label, span) {
    const row = el("li", ""), go = el("button", ""), quote = el("q", "", wordsAt(this.item, span)), off = el("button", "", "×");
    quote.dir = "auto"; go.type = off.type = "button";
    go.append(quote, el("span", "quiet", span.text.replace("/", " ")));
    off.setAttribute("aria-label", `Remove: ${quote.textContent.slice(0, 60)}`);
    go.addEventListener("click", () => { const text = $(`[data-text="${CSS.escape(span.text)}"]`, this.item); unfold(text?.closest(".ctx")); text?.scrollIntoView({ block: "nearest" }); });
    off.addEventListener("click", () => { this.spans = this.spans.filter(one => one !== span); this.touched(); this.turnTo(label); });
    row.append(go, off);
    return row;
  }
}
