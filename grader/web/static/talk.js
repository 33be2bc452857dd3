// What an interviewer asks: a question, the answer when it was said aloud, a rating.

import { api } from "./api.js";
import { filled, h, said, show } from "./dom.js";

export class Talk {
  static async page(page, main) {
    const place = h("div", {});
    show(main, h("div", { class: "sheet" }, h("h1", {}, page.words.talk), place));
    const talk = new Talk(page, place, "");
    await talk.begin();
    return talk;
  }

  constructor(page, place, kata) {
    this.page = page;
    this.words = page.words;
    this.place = place;
    this.kata = kata;
    this.title = page.words.talk;
    /** How a rating is stored; a mock interview does it in its own way. */
    this.store = async (one, rating) => (await api.ask("rate-question", { card: one.id, rating, known: one.known })).said;
    this.onEnd = null;
  }

  onShown() {}

  close() {}

  async begin(questions = null) {
    this.questions = questions ?? (await api.ask("talk", { kata: this.kata })).questions;
    this.at = 0;
    this.total = this.questions.length;
    if (!this.total) { show(this.place, h("p", {}, this.words.no_question)); return; }
    this.ask();
  }

  ask(before = "") {
    const { words } = this;
    const one = this.questions[this.at];
    const told = before ? h("p", { class: "dim", role: "status" }, before) : null;
    if (!one) {
      show(this.place, told, h("p", { tabindex: "-1" }, said(words.answered, { count: this.total })));
      this.place.lastChild.focus();
      this.page.refresh();
      this.onEnd?.();
      return;
    }
    const answer = h("div", { class: "markdown answer", tabindex: "-1", hidden: true });
    const ratings = h("div", { class: "buttons", role: "group", "aria-label": words.rate, hidden: true },
      [words.unknown, words.effort, words.known, words.easy].map((word, at) => h("button", { onclick: () => this.rate(one, at + 1) }, `${at + 1} ${word}`)));
    const look = h("button", { class: "main", onclick: () => {
      filled(answer, one.answer);
      answer.hidden = ratings.hidden = false;
      look.hidden = true;
      answer.focus();
    } }, words.show_answer);
    const question = h("div", { class: "question",
      onkeydown: (event) => { if (!ratings.hidden && "1234".includes(event.key)) this.rate(one, Number(event.key)); } },
      told, h("p", { class: "dim" }, `${this.at + 1}/${this.total} · ${one.id}`), filled(h("div", { class: "markdown asked" }), one.text),
      look, answer, ratings);
    show(this.place, question);
    if (this.at) look.focus();
  }

  async rate(one, rating) {
    if (this.rating) return;
    this.rating = true;
    try {
      const sentence = await this.store(one, rating);
      this.at += 1;
      this.ask(sentence);
    } catch (error) {
      this.place.append(h("p", { class: "failed", role: "alert" }, error.message));
    } finally {
      this.rating = false;
    }
  }
}
