// The page: the bar, the course, and what is open beside it.

import { Answer } from "./answer.js";
import { api, Failed } from "./api.js";
import { h, said, show } from "./dom.js";
import { beginning, first, place } from "./first.js";
import { MockPage } from "./mock.js";
import { Talk } from "./talk.js";

class Page {
  constructor(words) {
    this.words = words;
    this.open = null;
    this.mockAt = null;
    this.clock = h("a", { class: "clock", href: "#/mock", hidden: true });
    this.lost = h("p", { class: "lost", role: "alert", hidden: true }, words.lost);
    this.live = h("p", { class: "unseen", role: "status", "aria-live": "polite" });
    this.count = h("span", { class: "dim count" });
    this.course = h("nav", { id: "course", "aria-label": words.course });
    this.main = h("main", { id: "main", tabindex: "-1" });
    this.burger = h("button", { class: "burger", "aria-expanded": "false", "aria-controls": "course", onclick: () => this.unfold() },
      "☰ ", words.course);
    const langs = h("select", { "aria-label": words.language, onchange: (event) => this.translate(event.target.value) },
      [["en", "English"], ["zh", "中文"]].map(([lang, name]) => h("option", { value: lang, lang: lang === "zh" ? "zh-Hans" : "en", selected: lang === api.lang }, name)));
    show(document.body,
      h("a", { class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); this.main.focus(); } }, words.skip),
      h("header", { class: "bar" }, this.burger, h("strong", { class: "brand" }, "kata"), this.count, h("span", { class: "gap" }), this.clock, langs),
      this.lost, this.live,
      h("div", { class: "frame" }, this.course, this.main));
    api.onConnection = (there, error) => this.connected(there, error);
    // The link of the terminal, opened once more in this tab.
    this.hear = () => (/^#(key|code)=/.test(location.hash) ? location.reload() : this.route());
    addEventListener("hashchange", this.hear);
    this.ticking = setInterval(() => this.tick(), 1000);
  }

  leave() {
    this.turn = -1;
    removeEventListener("hashchange", this.hear);
    clearInterval(this.ticking);
    this.open?.close();
  }

  async translate(lang) {
    this.open?.keepDraft?.();
    this.leave();
    api.speak(lang);
    await begin(beginning());
  }

  connected(there, error) {
    const sentence = error instanceof Failed && error.status === 403 ? this.words.other : this.words.lost;
    const gone = !there || (error instanceof Failed && error.status === 403);
    if (gone && this.lost.textContent !== sentence) this.lost.textContent = sentence;
    this.lost.hidden = !gone;
  }

  say(sentence) {
    this.live.textContent = sentence;
  }

  unfold(open = this.burger.getAttribute("aria-expanded") !== "true") {
    this.burger.setAttribute("aria-expanded", String(open));
    this.course.classList.toggle("open", open);
    if (open) this.course.querySelector("button, a")?.focus();
  }

  /** Show the course again: something was begun or passed. */
  async refresh() {
    this.list(await api.ask("course"));
  }

  list(found) {
    const { words } = this;
    this.listed = found;
    this.timed(found.mock);
    this.count.textContent = said(words.passed_of, { passed: found.passed, total: found.total });
    const link = (path, ...inner) => h("a", { href: `#/${path}`, onclick: () => this.unfold(false) }, ...inner);
    const due = found.due.map((one) => h("li", {}, link(`${one.id}/review`, one.id, h("span", { class: "dim" }, ` ${one.when}`))));
    const today = h("section", { class: "today" },
      h("h2", {}, words.today),
      due.length ? h("div", {}, h("h3", {}, words.due), h("ul", {}, due)) : null,
      h("ul", {},
        found.next ? h("li", {}, link(found.next, said(words.next, { kata: found.next }))) : null,
        h("li", {}, link("talk", words.talk, found.questions ? h("span", { class: "badge" }, String(found.questions)) : null)),
        h("li", {}, link("mock", words.mock))));
    const tracks = found.tracks.map((track) => h("section", {},
      h("h2", {}, track.title),
      h("ul", {}, track.katas.map((kata) => h("li", {}, this.entry(kata, link))))));
    const scroll = this.course.scrollTop;
    show(this.course, today, ...tracks, h("p", { class: "dim place" }, found.workspace));
    this.course.scrollTop = scroll;
    this.mark();
  }

  entry(kata, link) {
    const { words } = this;
    const mark = { passed: "✓", begun: "◐" }[kata.state] || "·";
    const state = { passed: words.passed, begun: words.begun }[kata.state];
    const one = link(kata.id, h("span", { class: `mark ${kata.state}`, "aria-hidden": "true" }, mark),
      h("span", { class: "id" }, kata.id), h("span", { class: "dim title" }, kata.title),
      state ? h("span", { class: "unseen" }, state) : null);
    one.dataset.kata = kata.id;
    return one;
  }

  mark() {
    const here = location.hash.slice(2).split("/")[0];
    for (const one of this.course.querySelectorAll("a")) {
      if (one.dataset.kata && one.dataset.kata === here) one.setAttribute("aria-current", "page");
      else one.removeAttribute("aria-current");
    }
  }

  /** Open what the address names; `found` is what the server has opened already. */
  async route(found = null) {
    if (!this.listed) return; // the beginning comes here by itself
    if (!place().name) {
      history.replaceState(null, "", `#/${this.listed.mock === null && this.listed.current || "mock"}`);
    }
    const { name, kind } = place();
    const turn = this.turn = (this.turn ?? 0) + 1;
    const current = () => turn === this.turn; // who goes elsewhere meanwhile is shown that
    this.open?.keepDraft?.();
    this.open?.close();
    this.open = null;
    this.mark();
    try {
      const main = h("div", {});
      const opening = name === "mock" ? MockPage.of(this, main)
        : name === "talk" ? Talk.page(this, main)
          : Answer.of(this, main, { kata: name, kind }, found);
      const opened = await opening;
      if (!current()) { opened.close(); return; }
      this.open = opened;
      show(this.main, main);
      opened.onShown();
      document.title = `${opened.title} · kata`;
    } catch (error) {
      if (current()) this.fail(error);
    }
  }

  fail(error) {
    if (!(error instanceof Failed)) console.error(error);
    show(this.main, h("div", { class: "sheet" }, h("h1", {}, "kata"), h("p", { class: "failed", role: "alert" },
      error instanceof Failed ? `${error.message} ${error.hint}` : this.words.lost)));
  }

  /** Show the clock of a mock interview: so many seconds are left now. */
  timed(seconds) {
    this.mockAt = seconds === null ? null : Date.now() / 1000 + seconds;
    this.tick();
  }

  tick() {
    this.clock.hidden = this.mockAt === null;
    if (this.mockAt === null) return;
    const left = Math.floor(this.mockAt - Date.now() / 1000);
    const clock = `${Math.floor(Math.abs(left) / 60)}:${String(Math.abs(left) % 60).padStart(2, "0")}`;
    this.clock.textContent = said(left >= 0 ? this.words.left : this.words.overtime, { clock });
    this.clock.classList.toggle("over", left < 0);
  }
}

async function begin(asked) {
  const { words, course, opened } = await asked;
  const page = new Page(words);
  page.list(course);
  await page.route(opened);
}

try {
  await begin(first);
} catch (error) {
  if (!(error instanceof Failed)) console.error(error);
  const sentence = error instanceof Failed ? error.message : "kata web does not answer.";
  show(document.body, h("main", { class: "sheet" }, h("h1", {}, "kata"), h("p", { role: "alert" }, sentence)));
}
