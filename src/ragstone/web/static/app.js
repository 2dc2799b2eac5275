"use strict";
/* Theme, keys, and the linking of claims with their evidence. All reading works without it. */
(() => {
  const $ = (s, o = document) => o.querySelector(s), $$ = (s, o = document) => [...o.querySelectorAll(s)];
  const root = document.documentElement, secret = $("meta[name=secret]")?.content;

  // The server is told by a cookie, so that the next page does not flash.
  $("#theme")?.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    document.cookie = `theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=strict`;
  });

  document.addEventListener("htmx:config:request", e => { e.detail.ctx.request.headers["X-secret"] = secret; });

  // What renews itself leaves open what somebody opened.
  window.htmx?.registerExtension("keeps", { htmx_before_morph_attr: (e, one) => one.attrName !== "open" || !e.closest("[data-keeps]") });

  // Who carries data-k="3 5" lights up with claims 3 and 5.
  let held = null;
  const of = e => (e.dataset.k || "").split(" ").filter(Boolean);
  const light = ks => {
    $$(".lit").forEach(e => e.classList.remove("lit"));
    if (!ks.length) return;
    $$("[data-k]").forEach(e => { if (of(e).some(k => ks.includes(k))) e.classList.add("lit"); });
    $$("td.cx.on").forEach(td => { if (ks.includes(td.parentNode.dataset.k)) $("#ctx-" + td.dataset.c)?.classList.add("lit"); });
  };
  const near = e => e.target.closest?.("[data-k]");
  document.addEventListener("mouseover", e => { if (!held) { const n = near(e); light(n ? of(n) : []); } });
  document.addEventListener("focusin", e => { const n = near(e); if (n) light(of(n)); });
  document.addEventListener("click", e => {
    const copy = e.target.closest?.("[data-copy]");
    if (copy) { navigator.clipboard?.writeText($(copy.dataset.copy).textContent).then(() => say(copy, "copied")); return; }
    const n = near(e);
    if (!n || e.target.closest("a, button, label, input, select, summary")) return;
    held = held === n ? null : n; light(of(n));
    const quote = held && $(`.quote[data-k~="${of(n)[0]}"]`);
    if (quote && !n.classList.contains("quote")) {
      quote.closest("details")?.setAttribute("open", "");
      quote.scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    }
  });
  const say = (where, words) => { const was = where.textContent; where.textContent = words; setTimeout(() => { where.textContent = was; }, 1500); };

  const help = $("#help");
  $("#keys")?.addEventListener("click", () => help.showModal());
  const go = rel => $(`a[rel~="${rel}"]`)?.click();
  document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const typing = e.target.matches("input:not([type=radio], [type=checkbox]), textarea, select");
    if (e.key === "Escape") { if (typing) e.target.blur(); $$("details.over[open]").forEach(d => d.removeAttribute("open")); held = null; light([]); return; }
    if (typing) return;
    const rows = $$("[data-row]"), at = rows.indexOf(document.activeElement);
    const open = $("details.over[open]");
    if (open && /^\d$/.test(e.key)) { const row = open.closest("tr"); $(`button[data-choice="${e.key}"]`, open)?.click(); row?.focus(); e.preventDefault(); return; }
    const keys = {
      "?": () => help.open ? help.close() : help.showModal(),
      "/": () => $("input[type=search]")?.focus(),
      j: () => rows[Math.min(rows.length - 1, at + 1)]?.focus(),
      k: () => rows[Math.max(0, at - 1)]?.focus(),
      n: () => go("next"), p: () => go("prev"), u: () => go("up"), c: () => go("compare"),
      o: () => { const d = $("details.over:not(.also)", document.activeElement.closest("tr") || rows[at] || document); if (d) { d.setAttribute("open", ""); $("summary", d).focus(); } },
      Enter: () => { if (at >= 0 && e.target === rows[at] && rows[at].tagName !== "SUMMARY") ($("a[rel~=open]", rows[at]) || $("a", rows[at]))?.click(); else return false; },
    };
    if (keys[e.key] && keys[e.key]() !== false) e.preventDefault();
  });
})();
