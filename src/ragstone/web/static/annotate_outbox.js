"use strict";
/* Saves go to the server one after the other, each once, however often it has to be tried. */
import { Away, isOut, post, wordsOf } from "./annotate_server.js";

const PAUSES = [1, 2, 4, 8, 15, 30];
const OUT = "Your link no longer works. Open it again, or ask whoever sent it for a new one. What you said is kept in this browser, and is sent when you open the link in it.";

export class Outbox {
  /* then: { done(entry, html), wrong(entry, html), refused(entry, words), free() } */
  constructor(store, home, box, then) {
    Object.assign(this, { store, home, box, then, tries: 0, running: false, unkept: null });
  }
  get count() { return this.store.waiting().length + (this.unkept ? 1 : 0); }
  get isWaiting() { return !this.box.hidden; }

  put(entry) {
    this.store.wait(entry);
    this.unkept = this.store.works ? null : entry;
    this.flush();
  }

  async flush() {
    if (this.running) return;
    this.running = true;
    clearTimeout(this.timer); clearInterval(this.ticking);
    try {
      for (let entry; (entry = this.store.waiting()[0] || this.unkept);) {
        const { status, html } = await post(entry.path, entry.body, this.home);
        if (isOut(status)) { this.out(); return; }
        this.store.sent(entry);
        this.unkept = null; this.tries = 0;
        if (status === 200) { this.then.done(entry, html, this.count > 0); continue; }
        this.tell("");
        if (status === 409 || status === 422) this.then.wrong(entry, html); else this.then.refused(entry, wordsOf(html));
        return;
      }
      this.tell("");
      this.then.free();
    } catch (error) {
      if (!(error instanceof Away)) throw error;
      this.wait();
    } finally { this.running = false; }
  }

  out() { this.tell(OUT); }
  wait() {
    const pause = PAUSES[Math.min(this.tries++, PAUSES.length - 1)], until = Date.now() + pause * 1e3;
    this.timer = setTimeout(() => this.flush(), pause * 1e3);
    const tick = () => {
      const one = this.count === 1;
      this.tell(
        `The server cannot be reached. ${one ? "1 answer waits" : `${this.count} answers wait`} ${this.unkept ? "on this page: leave it open" : "in this browser"}, and ${one ? "is" : "are"} sent as soon as it is back.`,
        `Next try in ${Math.max(0, Math.ceil((until - Date.now()) / 1e3))} s.`,
      );
    };
    tick();
    this.ticking = setInterval(tick, 1e3);
  }

  /* What changes every second is not read out. */
  tell(words, next = "") {
    const { box } = this;
    box.hidden = !words;
    if (!words) { clearInterval(this.ticking); box.replaceChildren(); return; }
    if (box.firstChild?.textContent !== words) {
      const [said, later, now] = ["span", "span", "button"].map(tag => document.createElement(tag));
      said.textContent = words;
      later.setAttribute("aria-hidden", "true");
      Object.assign(now, { type: "button", className: "btn", textContent: "Try now", hidden: !next });
      now.addEventListener("click", () => this.flush());
      box.replaceChildren(said, " ", later, " ", now);
    }
    box.children[1].textContent = next;
  }
}
