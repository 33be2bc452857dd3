// A mock interview: stages, a clock, nobody who helps, a score card.

import { Answer } from "./answer.js";
import { api } from "./api.js";
import { filled, h, said, show } from "./dom.js";
import { Talk } from "./talk.js";

export class MockPage {
  static async of(page, main) {
    const mock = new MockPage(page, main);
    await mock.look();
    return mock;
  }

  constructor(page, main) {
    this.page = page;
    this.main = main;
    this.words = page.words;
    this.title = page.words.mock;
    this.answer = null;
  }

  onShown() {
    this.answer?.onShown();
    this.answer?.editor.focus();
  }

  close() {
    this.answer?.close();
  }

  keepDraft() {
    return this.answer?.keepDraft();
  }

  async look() {
    const found = await api.ask("mock");
    if (!found.running) this.offer(found.past);
    else if (found.running.kata) await this.stage(found.running);
    else await this.questions();
  }

  /** Offer to begin one. */
  offer(past) {
    const { words, page } = this;
    page.timed(null);
    const options = page.listed.tracks.flatMap((track) => track.katas).map((kata) => h("option", { value: kata.id }, `${kata.id} · ${kata.title}`));
    const kata = h("select", { id: "mock-kata" }, h("option", { value: "" }, words.drawn), options);
    const minutes = h("input", { id: "mock-minutes", type: "number", min: "1", max: "1440", placeholder: words.as_planned });
    const feedback = h("select", { id: "mock-feedback" },
      [["none", words.tell_none], ["count", words.tell_count], ["full", words.tell_full]].map(([value, word]) => h("option", { value }, word)));
    const failed = h("p", { class: "failed", role: "alert" });
    const begin = async (event) => {
      event.preventDefault();
      try {
        await api.ask("mock-begin", { katas: kata.value ? [kata.value] : [], minutes: Number(minutes.value) || 0, feedback: feedback.value });
        await this.look();
        await page.refresh();
      } catch (error) {
        failed.textContent = `${error.message} ${error.hint ?? ""}`;
      }
    };
    show(this.main, h("div", { class: "sheet" },
      h("h1", {}, words.mock), h("p", {}, words.about_mock),
      h("form", { onsubmit: begin },
        h("p", {}, h("label", { for: "mock-kata" }, words.up_to), kata),
        h("p", {}, h("label", { for: "mock-minutes" }, words.minutes), minutes),
        h("p", {}, h("label", { for: "mock-feedback" }, words.feedback), feedback),
        h("p", {}, h("button", { class: "main" }, words.begin_mock))),
      failed,
      past.length ? h("section", {}, h("h2", {}, words.past), past.map((card) => {
        const inner = filled(h("div", { class: "markdown card" }), card);
        const head = inner.querySelector("h1");
        const title = `${head?.textContent ?? ""} · ${inner.querySelector("p")?.textContent ?? ""}`;
        head?.remove();
        return h("details", {}, h("summary", {}, title), inner);
      })) : null));
  }

  /** Show a stage: the task, the editor, the clock. */
  async stage(running) {
    const { words, page } = this;
    this.answer?.close();
    page.timed(running.left);
    const name = { kata: running.kata, kind: "mock" };
    const opened = await api.ask("open", name);
    this.told = h("div", { class: "told", role: "status" });
    const bar = h("div", { class: "mockbar" },
      h("strong", {}, said(words.stage, { number: running.number, count: running.stages.length })),
      h("ol", { class: "stages" }, running.stages.map((one, at) => h("li", { "aria-current": at + 1 === running.number ? "step" : null }, `${one.kata}${one.debug ? ` · ${words.debug}` : ""}`))),
      h("span", { class: "gap" }),
      h("button", { class: "main", onclick: () => this.submit() }, words.submit),
      h("button", { onclick: () => this.confirm() }, words.end),
      this.told);
    this.answer = new Answer(page, this.main, name, opened, { mock: bar });
    this.answer.onKeep = () => this.ask();
    this.title = opened.title;
    this.answer.editor.focus();
  }

  async guarded(work) {
    try {
      await work();
    } catch (error) {
      show(this.told ?? this.main, h("p", { class: "failed" }, `${error.message} ${error.hint ?? ""}`));
    }
  }

  /** What was agreed to be told, after the file was kept. */
  ask() {
    return this.guarded(async () => {
      const found = await api.ask("mock-told");
      show(this.told, found.said ? h("p", {}, found.said) : filled(h("div", { class: "verdict" }), found.html));
    });
  }

  submit() {
    return this.guarded(async () => {
      await this.answer.save(false);
      if (this.answer.dirty || this.answer.theirs) return;
      const { running } = await api.ask("mock-submit");
      if (running.kata) await this.stage(running);
      else await this.questions();
      await this.page.refresh();
    });
  }

  confirm() {
    const { words } = this;
    show(this.told, h("p", {}, words.really_end),
      h("div", { class: "buttons" },
        h("button", { onclick: () => this.guarded(async () => { await this.answer.save(false); await this.questions(); }) }, words.end),
        h("button", { onclick: () => { show(this.told); this.answer.editor.focus(); } }, words.go_on)));
    this.told.querySelector("button").focus();
  }

  async questions() {
    const { words, page } = this;
    this.answer?.close();
    this.answer = null;
    const place = h("div", {});
    show(this.main, h("div", { class: "sheet" }, h("h1", {}, words.mock), h("p", {}, words.then_questions), place,
      h("p", {}, h("button", { onclick: () => this.results() }, words.skip_questions))));
    const talk = new Talk(page, place, "");
    talk.store = async (one, rating) => { await api.ask("mock-answer", { number: one.number, rating, known: one.known }); return ""; };
    talk.onEnd = () => this.results();
    const found = await api.ask("mock-questions");
    if (found.questions.length) await talk.begin(found.questions);
    else await this.results();
  }

  async results() {
    const { words, page } = this;
    if (this.ending) return;
    this.ending = true;
    show(this.main, h("div", { class: "sheet" }, h("h1", {}, words.mock), h("p", { role: "status" }, words.grading)));
    try {
      const found = await api.ask("mock-end");
      page.timed(null);
      const card = filled(h("div", { class: "markdown card" }), found.card);
      show(this.main, h("div", { class: "sheet" }, card,
        found.diagnoses.map((html) => filled(h("section", { class: "verdict" }), html)),
        h("p", {}, h("a", { href: "#/", onclick: (event) => { event.preventDefault(); this.look(); } }, words.another_mock))));
      page.main.focus();
      await page.refresh();
    } catch (error) {
      show(this.main, h("div", { class: "sheet" }, h("h1", {}, words.mock), h("p", { class: "failed", role: "alert" }, `${error.message} ${error.hint ?? ""}`)));
    } finally {
      this.ending = false;
    }
  }
}
