// One file of the learner's: its task, the editor, the verdict. What another program writes into it is never overwritten.

import { api, Failed, Waiting } from "./api.js";
import { filled, h, painted, said, show } from "./dom.js";
import { makeEditor } from "./editor.js";
import { Panels } from "./panels.js";

const NONCE = document.querySelector("meta[name=nonce]").content;

export class Answer {
  static async of(page, main, name, opened = null) {
    return new Answer(page, main, name, opened ?? await api.ask("open", name));
  }

  constructor(page, main, name, opened, { mock = null } = {}) {
    this.page = page;
    this.words = page.words;
    this.name = name;
    this.opened = opened;
    this.mock = mock;
    this.title = opened.title;
    this.base = { text: "", digest: "" };
    this.saving = null;
    this.theirs = null;
    this.shown = { html: null, marks: "" };
    this.build(main);
    this.take(opened.state, { first: true });
    this.leaveWarned = (event) => { if (this.dirty) event.preventDefault(); };
    addEventListener("beforeunload", this.leaveWarned);
    this.hidden = () => this.keepDraft();
    addEventListener("pagehide", this.hidden);
    this.keys = (event) => this.press(event);
    addEventListener("keydown", this.keys);
    this.waiting = new Waiting(name, opened.state.number, (state) => this.take(state));
  }

  /** It stands on the page now. */
  onShown() {
    this.editor.view.requestMeasure();
  }

  close() {
    this.waiting.close();
    removeEventListener("beforeunload", this.leaveWarned);
    removeEventListener("pagehide", this.hidden);
    removeEventListener("keydown", this.keys);
    this.editor.destroy();
  }

  build(main) {
    const { words, opened } = this;
    this.file = h("code", { class: "path" }, opened.path);
    this.saved = h("span", { class: "dim saved" });
    this.grade = h("button", { class: "main", onclick: () => this.save(true), title: "Ctrl-Enter" }, this.mock ? words.keep : words.grade);
    this.put = h("button", { onclick: () => this.save(false), title: "Ctrl-S" }, words.save);
    this.begin = h("div", { class: "begin", hidden: true });
    this.conflict = h("div", { class: "conflict", role: "alert", hidden: true });
    this.note = h("p", { class: "warn note", role: "status", hidden: true });
    this.place = h("div", { class: "editor" });
    this.progress = h("p", { class: "dim progress", hidden: true });
    this.verdict = h("section", { class: "verdict", "aria-label": words.verdict, hidden: true });
    this.after = h("div", { class: "after" });
    this.panels = new Panels(this);
    this.tools = h("div", { class: "tools" }, this.file, this.saved, h("span", { class: "gap" }), this.put, this.grade);
    this.work = h("div", { class: "work" },
      this.tools,
      this.begin, this.conflict, this.note, this.place,
      h("p", { class: "dim keys" }, words.keys), this.progress, this.after, this.verdict);
    const kind = { review: words.review, debug: words.debug, mock: words.mock }[this.name.kind];
    this.factsWith = (round) => ` · ${[kind, `${opened.minutes} ${words.min}`, round].filter(Boolean).join(" · ")}`;
    this.facts = h("p", { class: "dim" }, h("code", {}, opened.name), this.factsWith(this.mock ? null : opened.round));
    show(main,
      h("div", { class: "head" }, h("h1", {}, opened.title), this.facts),
      opened.missing.length && !this.mock ? h("p", { class: "dim missing" }, said(words.missing, { katas: opened.missing.join(", ") })) : null,
      this.mock,
      h("div", { class: "columns" }, this.panels.element, this.work));
    this.editor = makeEditor(this.place, {
      nonce: NONCE,
      label: said(words.editor, { path: opened.path }),
      phrases: words.phrases,
      onChange: () => this.typed(),
      onGrade: () => this.save(true),
      onSave: () => this.save(false),
      bar: this.tools,
    });
  }

  toEditor() {
    this.work.scrollIntoView();
    if (this.place.hidden) this.begin.querySelector("button")?.focus();
    else this.editor.focus();
  }

  press(event) {
    if (!(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
    if (event.key === "Enter" || event.key === "s") {
      event.preventDefault();
      if (!this.place.hidden) this.save(event.key === "Enter");
    }
  }

  get dirty() {
    return !this.place.hidden && this.editor.text() !== this.base.text;
  }

  // --- what becomes of the text

  typed() {
    this.tellSaved();
    clearTimeout(this.later);
    this.later = setTimeout(() => this.keepDraft(), 400);
  }

  get draftKey() {
    return `kata.draft:${this.name.kata}.${this.name.kind}`;
  }

  /** Keep what is not saved yet as long as this tab lives: a reload loses nothing. */
  keepDraft() {
    clearTimeout(this.later);
    if (this.dirty) sessionStorage.setItem(this.draftKey, JSON.stringify({ text: this.editor.text(), seen: this.base }));
    else sessionStorage.removeItem(this.draftKey);
  }

  /** Show what the server says of the file. */
  take(state, { first = false } = {}) {
    this.state = state;
    if (this.starting) return; // what is typed here would be lost: the page is about to be made anew
    const there = state.there;
    this.place.hidden = !there;
    this.grade.disabled = this.put.disabled = !there;
    this.offerBeginning(there);
    if (there) this.takeText(state, first);
    this.note.hidden = !state.note;
    this.note.textContent = state.note;
    this.takeGrading(state, first);
    this.tellSaved();
  }

  takeText(state, first) {
    const theirs = { text: state.text, digest: state.digest };
    if (first) {
      this.base = theirs;
      this.editor.open(state.text);
      this.takeDraft();
    } else if (state.text === this.base.text || state.text === this.saving) {
      this.base = theirs;
      if (this.theirs && this.theirs.text !== state.text) this.settle();
    } else if (!this.dirty || this.editor.text() === state.text) {
      this.base = theirs;
      if (this.editor.text() !== state.text) {
        this.editor.replace(state.text);
        this.page.say(said(this.words.changed, { path: this.opened.path }));
      }
      this.settle();
    } else {
      this.clash(theirs);
    }
  }

  takeDraft() {
    const draft = JSON.parse(sessionStorage.getItem(this.draftKey) || "null");
    if (!draft || draft.text === this.base.text) return;
    this.editor.replace(draft.text);
    this.page.say(this.words.draft);
    if (draft.seen.digest !== this.base.digest) {
      const theirs = this.base;
      this.base = draft.seen;
      this.clash(theirs);
    }
  }

  /** Offer both texts: that of the page, and that of another program. */
  clash(theirs) {
    const { words } = this;
    this.theirs = theirs;
    show(this.conflict,
      h("p", {}, h("strong", {}, said(words.clash, { path: this.opened.path }))),
      h("div", { class: "buttons" },
        h("button", { onclick: () => this.takeTheirs() }, words.theirs),
        h("button", { onclick: () => this.keepMine() }, words.mine)),
      h("details", {}, h("summary", {}, words.look), h("pre", { tabindex: "0" }, theirs.text)),
      h("p", { class: "dim" }, words.kept));
    this.conflict.hidden = false;
  }

  settle() {
    this.theirs = null;
    this.conflict.hidden = true;
  }

  takeTheirs() {
    this.base = this.theirs;
    this.editor.replace(this.theirs.text);
    this.settle();
    this.keepDraft();
    this.tellSaved();
    this.editor.focus();
  }

  async keepMine() {
    this.base = this.theirs;
    this.settle();
    await this.save(true);
    this.editor.focus();
  }

  async save(grade) {
    if (this.theirs || this.place.hidden) return;
    const text = this.editor.text();
    this.saving = text;
    this.stale();
    try {
      const found = await api.ask("save", { ...this.name, text, seen: this.base.digest, grade });
      if (this.saving === text) this.base = { text, digest: found.digest };
      this.keepDraft();
      if (grade && this.mock) await this.onKeep?.();
    } catch (error) {
      this.failed(error);
    } finally {
      if (this.saving === text) this.saving = null;
      this.tellSaved();
    }
  }

  stale() {
    this.verdict.classList.add("stale");
  }

  failed(error) {
    if (!(error instanceof Failed)) { console.error(error); return; }
    if (error.kind === "ChangedOnDisk") return; // the file's new text comes by itself, and both are offered
    this.note.hidden = false;
    this.note.textContent = `${error.message} ${error.hint}`;
  }

  tellSaved() {
    this.saved.textContent = this.place.hidden ? "" : this.dirty ? this.words.unsaved : this.words.is_saved;
  }

  // --- a file that is not there

  offerBeginning(there) {
    this.begin.hidden = there;
    if (there || this.begin.childElementCount) return;
    const { words, name } = this;
    const start = h("button", { class: "main", onclick: () => this.start(name.kind) },
      said({ "": words.start, debug: words.start_debug, review: words.start_review }[name.kind] ?? words.start, { path: this.opened.path }));
    show(this.begin, h("p", {}, words.not_begun), start);
  }

  async start() {
    if (this.starting) return;
    this.starting = true;
    try {
      const found = await api.ask("start", this.name);
      for (const sentence of [...(found.said ?? []), ...found.notes]) this.page.say(sentence);
      await this.page.refresh();
      await this.page.route();
      this.page.open?.editor?.focus();
    } catch (error) {
      this.starting = false;
      this.take(this.state);
      this.failed(error);
    }
  }

  // --- what becomes of a grading

  takeGrading(state, first) {
    const { words } = this;
    this.progress.hidden = !state.checking;
    if (state.checking) {
      this.stale();
      this.facts.lastChild.data = this.factsWith(null); // what the round took is another thing now
      this.progress.textContent = state.explaining ? said(words.explaining, { failed: state.failed, total: state.total })
        : state.total ? said(words.progress, { done: state.done, total: state.total }) + (state.failed ? said(words.failing, { failed: state.failed }) : "")
        : words.checking;
      return;
    }
    const { verdict } = state;
    this.verdict.hidden = !verdict;
    this.verdict.classList.toggle("stale", Boolean(verdict) && !verdict.fits);
    if (!verdict) { this.editor.mark([]); show(this.after); this.shown = { html: null, marks: "" }; return; }
    if (this.shown.html !== verdict.html || this.shown.at !== verdict.at) this.draw(verdict, first);
    const marks = verdict.fits ? verdict.marks : [];
    if (this.shown.marks !== JSON.stringify(marks)) {
      this.editor.mark(marks);
      this.shown.marks = JSON.stringify(marks);
    }
    if (verdict.took !== this.shown.took) this.offerRating(verdict);
  }

  draw(verdict, first) {
    filled(this.verdict, verdict.html);
    this.verdict.append(h("p", { class: "dim" }, verdict.at));
    for (const where of this.verdict.querySelectorAll(".where")) {
      const line = Number(/:(\d+)/.exec(where.textContent)?.[1]);
      if (line) where.replaceChildren(h("button", { class: "link where", onclick: () => this.editor.go(line) }, where.textContent));
    }
    const before = this.shown.html;
    this.shown = { html: verdict.html, at: verdict.at, marks: "" };
    if (before !== null || this.asked) this.page.say(this.verdict.querySelector("h2")?.textContent ?? "");
    if (verdict.kind === "passed" && !first) painted(() => this.page.refresh()); // else the course knows it
  }

  /** After a pass: what the round took, its rating, what comes next. */
  offerRating(verdict) {
    this.shown.took = verdict.took;
    if (!verdict.took) { show(this.after); return; }
    const { words, name } = this;
    const told = h("p", { role: "status" });
    const rate = (rating) => async () => {
      try { told.textContent = (await api.ask("rate", { kata: name.kata, rating })).said; } catch (error) { this.failed(error); }
    };
    const ratings = [words.again, words.hard, words.good, words.easy].map((word, at) =>
      h("button", { class: "small", "aria-pressed": String(at + 1 === verdict.rating), onclick: rate(at + 1) }, word));
    show(this.after,
      h("p", {}, verdict.took, verdict.when ? ` · ${verdict.when}` : ""),
      verdict.rating ? h("div", { class: "buttons", role: "group", "aria-label": words.rate }, h("span", { class: "dim" }, words.rate), ratings) : null,
      told,
      h("div", { class: "buttons" }, h("button", { onclick: () => this.panels.open("talk") }, words.talk)));
  }
}
