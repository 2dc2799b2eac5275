"use strict";
/* What this browser keeps until the server has it: drafts of items, and saves that wait. Each has a key of its own, so
   that several windows never write over each other. */

const MONTH = 30 * 86400e3;

export class Store {
  constructor(queue, person) {
    this.root = `ragstone ${JSON.stringify([queue, person])} `;
    this.works = true;
    for (const [key, one] of this.all("draft ")) if (!(one?.at > Date.now() - MONTH)) this.drop(key);
  }

  all(sort) {
    const found = [];
    try {
      for (let at = 0; at < localStorage.length; at++) {
        const key = localStorage.key(at);
        if (key.startsWith(this.root + sort)) found.push([key.slice(this.root.length), this.read(key.slice(this.root.length))]);
      }
    } catch { this.works = false; }
    return found;
  }
  read(key) { try { return JSON.parse(localStorage.getItem(this.root + key)); } catch { return null; } }
  write(key, value) { try { localStorage.setItem(this.root + key, JSON.stringify(value)); this.works = true; } catch { this.works = false; } }
  drop(key) { try { localStorage.removeItem(this.root + key); } catch { this.works = false; } }

  draft(item) { return this.read(`draft ${item}`); }
  keepDraft(item, draft) { this.write(`draft ${item}`, { ...draft, at: Date.now() }); }
  dropDraft(item, until = Infinity) { if (!(this.draft(item)?.at > until)) this.drop(`draft ${item}`); }
  isDraft(key, item) { return key === `${this.root}draft ${item}`; }

  waiting() { return this.all("out ").map(([, one]) => one).filter(Boolean).sort((a, b) => a.at - b.at); }
  wait(entry) { this.write(`out ${entry.once}`, entry); }
  sent(entry) { this.drop(`out ${entry.once}`); }
}
